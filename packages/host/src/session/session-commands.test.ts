import { failure, reply, scriptedModel, toolCall } from "@tau/llm/testing";
import { describe, expect, it } from "vitest";
import type { Compactor } from "../compaction/compactor.ts";
import { createSessionStore } from "../store/open-session.ts";
import { nodeStoreFs } from "../store/store-fs.ts";
import {
  cleanUpAfterEach,
  fileEntries,
  gate,
  other,
  reopen,
  said,
  startSession,
  tempDir,
  tool,
} from "./__fixtures__/harness.ts";

cleanUpAfterEach();

describe("commands", () => {
  it("are plain data, one row each", async () => {
    const thinking = { ...other, reasoning: true };
    const { session, events } = await startSession([reply("ok")], {
      findModel: (_, id) => (id === "other" ? thinking : undefined),
    });
    expect(await session.dispatch({ type: "prompt", message: "go" })).toEqual({ disposition: "started" });
    await session.dispatch({ type: "wait" });
    expect(await session.dispatch({ type: "set_model", provider: "scripted", modelId: "other" })).toBe(thinking);
    const unknown = session.dispatch({ type: "set_model", provider: "scripted", modelId: "none" });
    await expect(unknown).rejects.toMatchObject({
      code: "unknown_model",
      message: expect.stringContaining("scripted/none"),
    });
    await session.dispatch({ type: "set_thinking_level", level: "low" });
    await session.dispatch({ type: "set_session_name", name: " My  name " });
    await expect(session.dispatch({ type: "compact" })).rejects.toMatchObject({ code: "no_compactor" });
    expect(await session.dispatch({ type: "clear_queue" })).toEqual({ steering: [], followUp: [] });
    expect(await session.dispatch({ type: "abort" })).toEqual({ steering: [], followUp: [] });
    expect(await session.dispatch({ type: "abort_retry" })).toEqual({ aborted: false });
    expect(session.state).toMatchObject({ thinkingLevel: "low", sessionName: "My name", model: { id: "other" } });
    expect(events.slice(-3).map(({ type }) => type)).toEqual([
      "model_changed",
      "thinking_level_changed",
      "session_info_changed",
    ]);
  });

  it("a session has at most 12 public members; the rest is commands", async () => {
    const { session } = await startSession([]);
    const members = Object.getOwnPropertyNames(Object.getPrototypeOf(session)).filter((name) => name !== "constructor");
    expect([...members, ...Object.keys(session)].length).toBeLessThanOrEqual(12);
  });

  it("what a program without types gets wrong is refused with a code, as is what one session cannot do", async () => {
    const { session } = await startSession([]);
    const dispatch = (command: object) => Reflect.apply(session.dispatch, session, [command]);
    for (const type of ["toString", "__proto__", "prompts", "", 7])
      await expect(dispatch({ type })).rejects.toMatchObject({ code: "unknown_command" });
    await expect(dispatch({ type: "prompt" })).rejects.toMatchObject({
      code: "invalid_field",
      message: '"message" must be a string',
    });
    const alone = [
      "new_session",
      "clone",
      "get_commands",
      "get_available_models",
      "cycle_model",
      "export_html",
      "hello",
    ];
    for (const type of alone) await expect(dispatch({ type })).rejects.toMatchObject({ code: "unavailable" });
    await expect(dispatch({ type: "get_entries", since: "x" })).rejects.toMatchObject({ code: "unknown_entry" });
  });

  it("R286 the state names the session, and every time in answers is ISO 8601", async () => {
    const { session, store } = await startSession([reply("ok")]);
    await session.prompt("go");
    expect(session.state).toMatchObject({ sessionId: store.header.id, cwd: "/work" });
    const { entries } = await session.dispatch({ type: "get_entries" });
    for (const { timestamp } of entries) expect(new Date(timestamp).toISOString()).toBe(timestamp);
  });

  it("a note of the program is read with the next prompt", async () => {
    const { session, script } = await startSession([reply("ok")]);
    await session.dispatch({ type: "add_message", customType: "x.note", content: "The build is red.", display: true });
    expect(session.messages).toMatchObject([{ role: "custom", customType: "x.note", display: true }]);
    await session.prompt("go");
    expect(JSON.stringify(script.calls[0]?.context.messages)).toContain("The build is red.");
  });

  it("a refused command rejects and changes nothing", async () => {
    const { open, opened } = gate();
    const { session } = await startSession([{ ...reply("ok"), gate: opened }]);
    const run = session.prompt("go");
    await expect(session.dispatch({ type: "prompt", message: "two" })).rejects.toMatchObject({ code: "busy" });
    await expect(session.dispatch({ type: "compact" })).rejects.toMatchObject({ code: "no_compactor" });
    await expect(session.dispatch({ type: "navigate", entryId: "x" })).rejects.toMatchObject({ code: "busy" });
    open();
    await run;
    const unknown = { code: "unknown_entry", detail: "x" };
    await expect(session.dispatch({ type: "navigate", entryId: "x" })).rejects.toMatchObject(unknown);
    await expect(session.dispatch({ type: "navigate", entryId: "x", summarize: true })).rejects.toMatchObject(unknown);
    expect(said(session.messages)).toEqual(["user: go", "assistant: ok"]);
  });

  it("R106 a compaction by hand refuses a second one and a prompt, and a queued message follows it", async () => {
    const { open, opened } = gate();
    const compactor: Compactor = {
      shouldCompact: () => false,
      async compact({ store, instructions }) {
        await opened;
        const firstKeptEntryId = store.projection().entryIds.at(-1) ?? "";
        return { summary: `about ${instructions}`, firstKeptEntryId, tokensBefore: 1 };
      },
    };
    const { session, script } = await startSession([reply("one"), reply("two")], { compactor });
    await session.prompt("go");
    const compaction = session.dispatch({ type: "compact", customInstructions: "the code" });
    expect(session.state).toMatchObject({ isCompacting: true, isStreaming: false });
    await expect(session.dispatch({ type: "compact" })).rejects.toMatchObject({ code: "busy" });
    await expect(session.prompt("now?")).rejects.toMatchObject({ code: "busy" });
    session.followUp("then this");
    open();
    expect(await compaction).toMatchObject({ summary: "about the code" });
    await session.dispatch({ type: "wait" });
    expect(JSON.stringify(script.calls[1]?.context)).toContain("about the code");
    expect(said(session.messages).slice(-2)).toEqual(["user: then this", "assistant: two"]);
  });

  it("R106 a compaction by hand can be aborted, and says why it gave nothing", async () => {
    const hangs: Compactor = { shouldCompact: () => false, compact: () => new Promise(() => undefined) };
    const { session, events } = await startSession([], { compactor: hangs });
    const compaction = session.dispatch({ type: "compact" });
    await session.abort();
    await expect(compaction).rejects.toThrow("aborted");
    expect(events).toContainEqual(expect.objectContaining({ type: "compaction_end", aborted: true }));
    const nothing: Compactor = { shouldCompact: () => false, compact: async () => undefined };
    const other = await startSession([], { compactor: nothing });
    await expect(other.session.dispatch({ type: "compact" })).rejects.toThrow("othing to compact");
  });
});

describe("a session and its file", () => {
  it("R292 a prompt is a list of blocks for every reader: in the file, in events, in the messages", async () => {
    const image = { type: "image", data: "aGk=", mimeType: "image/png" } as const;
    const steps = [reply("a"), reply("b"), reply("c")];
    const { session, store, events } = await startSession(steps);
    await session.prompt("text alone");
    await session.prompt({ role: "user", content: "a message", timestamp: 1 });
    await session.prompt("with an image", { images: [image] });
    const wanted = [
      [{ type: "text", text: "text alone" }],
      [{ type: "text", text: "a message" }],
      [{ type: "text", text: "with an image" }, image],
    ];
    const contents = (messages: readonly unknown[]) =>
      messages.flatMap((message) => {
        const { role, content } = message as { role: string; content: unknown };
        return role === "user" ? [content] : [];
      });
    const ended = events.flatMap((event) => (event.type === "message_end" ? [event.message] : []));
    const filed = fileEntries(store).flatMap(({ type, message }) => (type === "message" ? [message] : []));
    const { messages } = await session.dispatch({ type: "get_messages" });
    expect([contents(ended), contents(filed), contents(messages)]).toEqual([wanted, wanted, wanted]);
  });

  it("B8 a change of tools and prompt in the session is said to the model behind what it knows", async () => {
    const { session, script } = await startSession([reply("a"), reply("b"), reply("c")], { tools: [tool("read")] });
    await session.prompt("one");
    session.configure({ tools: [tool("read"), tool("edit")] });
    session.configure({ systemPrompt: "You are another." });
    await session.prompt("two");
    await session.prompt("three");
    const roles = script.calls[2]?.context.messages.map(({ role }) => role);
    expect(roles).toEqual(["system", "user", "assistant", "system", "user", "assistant", "user"]);
    expect(script.calls[1]?.context.messages[3]).toMatchObject({
      sections: { prompt: "You are another." },
      toolsAdded: [{ name: "edit" }],
    });
  });

  it("B8 C9 after a crash in a batch the change of the prompt follows the results that close it", async () => {
    const started = gate();
    const hangs = tool("calc", () => new Promise(() => started.open()));
    const first = await startSession([reply(toolCall("calc"))], { tools: [hangs] });
    void first.session.prompt("go");
    await started.opened;
    // What a killed process leaves behind: its file, as it is now.
    const copy = createSessionStore({ sessionsDir: tempDir(), cwd: "/work" });
    for (const { id: _i, parentId: _p, timestamp: _t, ...draft } of first.store.entries()) copy.append(draft);
    const second = await startSession([reply("on")], {
      store: copy,
      systemPrompt: "You are new.",
      tools: [tool("calc")],
    });
    await second.session.prompt("and now?");
    const entries = fileEntries(copy).flatMap(({ message }) => (message ? [(message as { role: string }).role] : []));
    expect(entries).toEqual(["system", "user", "assistant", "toolResult", "system", "user", "assistant"]);
    expect(said(second.session.messages)[2]).toContain("in part");
    const third = await reopen(second, [reply("ok")], { systemPrompt: "You are new.", tools: [tool("calc")] });
    await third.session.prompt("still?");
    expect(third.script.calls[0]?.context.messages.filter(({ role }) => role === "system")).toHaveLength(2);
  });

  it("B8 a change of the tools is said once, behind answered calls as behind calls that a crash left open", async () => {
    const retried = await startSession([reply(toolCall("calc")), failure("busy", "retryable"), reply("on")], {
      tools: [tool("calc"), tool("old")],
    });
    const change = () => retried.session.configure({ tools: [tool("calc"), tool("new")] });
    retried.session.subscribe((event) => void (event.type === "auto_retry_start" && change()));
    await retried.session.prompt("go");
    const told = retried.script.calls[2]?.context.messages.filter(({ role }) => role === "system");
    expect(told?.slice(1)).toMatchObject([{ toolsAdded: [{ name: "new" }], toolsRemoved: [{ name: "old" }] }]);

    const started = gate();
    const hangs = tool("calc", () => new Promise(() => started.open()));
    const first = await startSession([reply(toolCall("calc"))], { tools: [hangs, tool("old")] });
    void first.session.prompt("go");
    await started.opened;
    const copy = createSessionStore({ sessionsDir: tempDir(), cwd: "/work" });
    for (const { id: _i, parentId: _p, timestamp: _t, ...draft } of first.store.entries()) copy.append(draft);
    const second = await startSession([reply("on")], { store: copy, systemPrompt: "New.", tools: [tool("calc")] });
    await second.session.prompt("and now?");
    const changes = second.script.calls[0]?.context.messages.filter(({ role }) => role === "system").slice(1);
    expect(changes?.filter((message) => "toolsRemoved" in message)).toMatchObject([
      { toolsRemoved: [{ name: "old" }] },
    ]);
    expect(changes?.filter((message) => "sections" in message)).toMatchObject([{ sections: { prompt: "New." } }]);
  });

  it("R111 a jump in the tree gives the model and the level of that point, as a resume does", async () => {
    const findModel = (_: string, id: string) => (id === "other" ? other : scriptedModel());
    const { session, script, store } = await startSession([reply("a"), reply("b"), reply("c"), reply("d")], {
      findModel,
    });
    await session.prompt("one");
    const point = store.leafId ?? "";
    session.configure({ model: other });
    await session.dispatch({ type: "set_thinking_level", level: "high" });
    await session.prompt("two");
    await session.dispatch({ type: "navigate", entryId: point });
    expect(session.state).toMatchObject({ model: { id: "demo" }, thinkingLevel: "off" });
    expect(said(session.messages)).toEqual(["user: one", "assistant: a"]);
    await session.prompt("three");
    expect(script.calls.map(({ model }) => model.id)).toEqual(["demo", "other", "demo"]);
    expect(script.calls[2]?.context.messages).toHaveLength(3);
    const first = store.entries().find((entry) => entry.type === "message" && entry.message.role === "user");
    expect(await session.dispatch({ type: "navigate", entryId: first?.id ?? "" })).toMatchObject({ editorText: "one" });
    await session.prompt("anew");
    expect(script.calls[3]?.context).toMatchObject({
      systemPrompt: "You are a test.",
      messages: [{ content: [{ text: "anew" }] }],
    });
  });

  it("F2 a message that is not a prompt enters between two runs, with its event", async () => {
    const listed = { output: "a.txt", cancelled: false, truncated: false };
    const { session, script, events } = await startSession([reply(toolCall("calc")), reply("one"), reply("two")], {
      tools: [tool("calc", () => void session.dispatch({ type: "bash", command: "ls" }))],
      userCommands: async () => listed,
    });
    await session.prompt("go");
    const note = { role: "bashExecution", command: "ls", ...listed, timestamp: expect.any(Number) };
    expect(session.messages.at(-1)).toEqual(note);
    await session.prompt("what did I run?");
    expect(JSON.stringify(script.calls[2]?.context)).toContain("a.txt");
    const shown = events.filter((event) => event.type === "message_end" && event.message.role === "bashExecution");
    expect(shown).toHaveLength(1);
  });

  it("E6 what extensions continue with belongs to the same chain, and an abort ends it", async () => {
    let rounds = 0;
    const goOn = { role: "custom" as const, customType: "x", content: "continue", display: false, timestamp: 1 };
    const { session, types } = await startSession([reply("a"), reply("b"), reply("c")], {
      hooks: { beforeSettle: ({ status }) => (status === "done" && ++rounds < 3 ? [goOn] : undefined) },
    });
    expect(await session.prompt("go")).toMatchObject({ status: "done" });
    expect(types().filter((type) => type === "agent_end")).toHaveLength(3);
    expect(types().filter((type) => type === "agent_settled")).toHaveLength(1);
    const endless = await startSession(() => reply("a"), { hooks: { beforeSettle: () => [goOn] } });
    endless.session.subscribe((event) => void (event.type === "agent_end" && endless.session.abort()));
    expect(await endless.session.prompt("go")).toMatchObject({ status: "aborted" });
  });

  it("F11 a full disk is reported, again after each prompt, and that it is over", async () => {
    let full = false;
    const write = (fd: number, bytes: Buffer, from: number) => {
      if (full) throw Object.assign(new Error("no space left on device"), { code: "ENOSPC" });
      return nodeStoreFs.write(fd, bytes, from);
    };
    const store = createSessionStore({ sessionsDir: tempDir(), cwd: "/work", fs: { ...nodeStoreFs, write } });
    const { session, events } = await startSession(() => reply("ok"), { store });
    const warnings = () => events.flatMap((event) => (event.type === "warning" ? [event.message] : []));
    await session.prompt("one");
    full = true;
    expect(await session.prompt("two")).toMatchObject({ status: "done" });
    expect(warnings()).toEqual([
      expect.stringContaining("not being saved"),
      expect.stringContaining("not being saved"),
    ]);
    await session.prompt("three");
    expect(warnings()).toHaveLength(3);
    full = false;
    await session.prompt("four");
    expect(warnings().at(-1)).toContain("being saved again");
    expect(fileEntries(store).filter(({ type }) => type === "message")).toHaveLength(9);
  });

  it("L4 a listener may wait for the abort that it asked for", async () => {
    const { session } = await startSession(() => reply(toolCall("calc")), {
      tools: [tool("calc")],
      settings: { limits: { abortGraceMs: 10 } },
    });
    session.subscribe(async (event) => {
      if (event.type === "tool_execution_end") await session.abort();
    });
    expect(await session.prompt("go")).toMatchObject({ status: "aborted" });
  });
});
