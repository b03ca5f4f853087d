import { failure, reply, text, toolCall } from "@tau/llm/testing";
import { describe, expect, it } from "vitest";
import {
  cleanUpAfterEach,
  fileEntries,
  gate,
  newStore,
  reopen,
  said,
  startSession,
  textOf,
  tool,
} from "./__fixtures__/harness.ts";

cleanUpAfterEach();

describe("a session", () => {
  it("E6 a prompt with a tool round trip settles once, after the disk", async () => {
    const { session, script, store, types } = await startSession([reply(toolCall("calc")), reply("42")], {
      tools: [tool("calc")],
    });
    let onDisk = 0;
    session.subscribe((event) => {
      if (event.type === "agent_settled") onDisk = fileEntries(store).length;
    });
    expect(await session.prompt("What is it?")).toMatchObject({ status: "done" });
    script.assertDone();
    expect(types()).toEqual([
      "agent_start",
      "turn_start",
      "message_start",
      "message_end",
      "message_start",
      "message_end",
      "tool_execution_start",
      "tool_execution_end",
      "message_start",
      "message_end",
      "turn_end",
      "turn_start",
      "message_start",
      "message_end",
      "turn_end",
      "agent_end",
      "agent_settled",
    ]);
    expect(said(session.messages)).toEqual([
      "user: What is it?",
      "assistant: <toolCall>",
      "toolResult: calc ran",
      "assistant: 42",
    ]);
    expect(onDisk).toBe(fileEntries(store).length);
    expect(session.state).toMatchObject({ isStreaming: false, phase: "idle" });
  });

  it("L5 what a listener sees is on disk, also the start of a call before it runs (F10)", async () => {
    const store = newStore();
    const atRun: string[] = [];
    const run = () => void atRun.push(...fileEntries(store).map((entry) => String(entry.customType ?? entry.type)));
    const { session } = await startSession([reply(toolCall("calc")), reply("done")], {
      tools: [tool("calc", run)],
      store,
    });
    const missing: string[] = [];
    session.subscribe((event) => {
      if (event.type !== "message_end") return;
      const shown = JSON.stringify(event.message);
      if (!fileEntries(store).some((entry) => JSON.stringify(entry.message) === shown)) missing.push(shown);
    });
    await session.prompt("go");
    expect(missing).toEqual([]);
    expect(atRun).toEqual([
      "session",
      "model_change",
      "thinking_level_change",
      "message",
      "message",
      "message",
      "tau.call_started",
    ]);
  });

  it("F2 each kind of entry has one trigger, and the head is an entry without an event", async () => {
    const { session, store, events } = await startSession([reply("a"), reply("b")], { tools: [tool("calc")] });
    await session.prompt("one");
    session.configure({ model: { ...session.state.model, id: "second", reasoning: true } });
    await session.dispatch({ type: "set_thinking_level", level: "high" });
    await session.dispatch({ type: "set_session_name", name: "a name" });
    await session.prompt("two");
    const entries = fileEntries(store).slice(1);
    expect(entries.map((entry) => entry.type)).toEqual([
      "model_change",
      "thinking_level_change",
      "message",
      "message",
      "message",
      "model_change",
      "thinking_level_change",
      "session_info",
      "message",
      "message",
    ]);
    expect(entries[2]).toMatchObject({
      message: { role: "system", sections: { prompt: "You are a test." }, toolsAdded: [{ name: "calc" }] },
    });
    const shown = events.flatMap((event) => (event.type === "message_end" ? [event.message.role] : []));
    expect(shown).toEqual(["user", "assistant", "user", "assistant"]);
  });

  it("F3 nothing is on disk before the first prompt", async () => {
    const { session, store } = await startSession([]);
    session.configure({ model: { ...session.state.model, id: "second" } });
    expect(() => fileEntries(store)).toThrow();
    expect(session.messages).toEqual([]);
  });

  it("R1 a prompt during a run is refused unless it says what it is", async () => {
    const open = gate();
    const { session } = await startSession([{ ...reply("slow"), gate: open.opened }, reply("after")]);
    const first = session.prompt("one");
    await expect(session.prompt("two")).rejects.toMatchObject({ code: "busy" });
    const second = session.prompt("three", { streamingBehavior: "followUp" });
    open.open();
    expect(await Promise.all([first, second])).toMatchObject([{ status: "done" }, { status: "done" }]);
    expect(said(session.messages)).toEqual(["user: one", "assistant: slow", "user: three", "assistant: after"]);
    await expect(session.prompt("")).rejects.toMatchObject({ code: "empty_prompt" });
  });

  it("R1 white space alone is not a prompt: providers refuse it", async () => {
    const { session, script } = await startSession([]);
    const spaces = { role: "user", content: [{ type: "text", text: "\t" }], timestamp: 0 } as const;
    for (const nothing of ["", " \n ", { ...spaces, content: [...spaces.content] }]) {
      await expect(session.prompt(nothing)).rejects.toMatchObject({ code: "empty_prompt" });
    }
    expect(() => session.steer("  ")).toThrow(/empty/);
    expect(script.calls).toHaveLength(0);
  });

  it("L4 waiting for the end inside a listener rejects", async () => {
    const { session } = await startSession([reply("ok")]);
    const errors: unknown[] = [];
    session.subscribe((event) => {
      if (event.type === "turn_start") session.dispatch({ type: "wait" }).catch((error) => errors.push(error.code));
    });
    await session.prompt("go");
    await session.dispatch({ type: "wait" });
    expect(errors).toEqual(["in_listener"]);
  });

  it("E6 a listener of agent_settled may begin the next prompt", async () => {
    const { session, types } = await startSession([reply("one"), reply("two")]);
    session.subscribe((event) => {
      if (event.type === "agent_settled" && session.messages.length === 2) void session.prompt("again");
    });
    await session.prompt("go");
    await session.dispatch({ type: "wait" });
    expect(textOf(session.messages.at(-1))).toBe("two");
    expect(types().filter((type) => type === "agent_settled")).toHaveLength(2);
  });

  it("E1 a provider failure is an assistant message with its kind, and the session stays usable", async () => {
    const { session } = await startSession([failure("no such key", "auth"), reply("now it works")]);
    expect(await session.prompt("go")).toMatchObject({
      status: "error",
      errorMessage: "no such key",
      errorKind: "auth",
    });
    expect((await session.dispatch({ type: "wait" })).outcome).toMatchObject({ status: "error" });
    expect(await session.prompt("again")).toMatchObject({ status: "done" });
  });

  it("R184 a run whose streamFn throws settles once, with a reason", async () => {
    const { session, types, events } = await startSession([{ ...reply(), fault: "throw" }]);
    expect(await session.prompt("go")).toMatchObject({
      status: "error",
      errorMessage: expect.stringContaining("threw"),
    });
    expect(types().filter((type) => type === "agent_settled")).toHaveLength(1);
    expect(events.at(-1)).toMatchObject({ type: "agent_settled", aborted: false, outcome: { status: "error" } });
  });

  it("X5 a run goes through its phases and ends idle", async () => {
    const { session, events } = await startSession([reply(toolCall("calc")), reply("42")], {
      tools: [tool("calc")],
      permission: { decide: () => ({ action: "allow" }) },
    });
    await session.prompt("go");
    const phases = events.flatMap((event) => (event.type === "phase" ? [event.to] : []));
    const turn = ["building_context", "calling_llm", "processing_stream"];
    const batch = ["checking_permission", "executing_tool", "turn_complete"];
    expect(phases).toEqual([...turn, ...batch, ...turn, "turn_complete", "waiting_for_input", "idle"]);
    expect(events.some(({ type }) => type === "listener_error")).toBe(false);
  });

  it("B8 O3 a resume with another prompt and other tools tells the model what changed, behind the old bytes", async () => {
    const first = await startSession([reply("a")], {
      systemPrompt: { sections: { role: "r", env: "e" } },
      tools: [tool("read"), tool("bash")],
    });
    await first.session.prompt("one");
    const second = await reopen(first, [reply("b")], {
      systemPrompt: { sections: { role: "r", skills: "s" } },
      tools: [tool("read"), tool("edit")],
    });
    await second.session.prompt("two");
    const context = second.script.calls[0]?.context;
    expect(context?.messages.map(({ role }) => role)).toEqual(["system", "user", "assistant", "system", "user"]);
    expect(context?.messages[3]).toMatchObject({
      sections: { skills: "s", env: null },
      toolsAdded: [{ name: "edit" }],
      toolsRemoved: [{ name: "bash" }],
    });
    const third = await reopen(second, [reply("c")], {
      systemPrompt: { sections: { role: "r", skills: "s" } },
      tools: [tool("read"), tool("edit")],
    });
    await third.session.prompt("three");
    const before = JSON.stringify(second.script.calls[0]?.context.messages).slice(0, -1);
    expect(JSON.stringify(third.script.calls[0]?.context.messages).startsWith(before)).toBe(true);
  });

  it("O3 without a change every request begins with the one before, over a resume in a new process", async () => {
    const tools = [tool("calc")];
    const steps = [reply(toolCall("calc")), reply(text("x"), toolCall("calc")), reply("end")];
    const first = await startSession(steps, { tools });
    await first.session.prompt("one");
    const second = await reopen(first, steps.slice(1), { tools });
    await second.session.prompt("two");
    const contexts = [...first.script.calls, ...second.script.calls].map(({ context }) => context);
    for (const [index, context] of contexts.entries()) {
      expect(context.systemPrompt).toBe("You are a test.");
      expect(JSON.stringify(context.tools)).toBe(JSON.stringify(contexts[0]?.tools));
      const before = JSON.stringify(contexts[index - 1]?.messages ?? []).slice(0, -1);
      expect(JSON.stringify(context.messages).startsWith(before)).toBe(true);
    }
  });
});
