import { existsSync } from "node:fs";
import { reply, toolCall } from "@tau/llm/testing";
import { describe, expect, it } from "vitest";
import { cleanUpAfterEach, gate, newStore, tempDir, textOf, tool } from "../session/__fixtures__/harness.ts";
import { openSessionStore } from "../store/open-session.ts";
import type { SessionStore } from "../store/session-store.ts";
import { endServersAfterEach, type RpcHarness, startRpc } from "./__fixtures__/rpc-harness.ts";

cleanUpAfterEach();
endServersAfterEach();

/** A closed session with one exchange; gives its path. */
function kept(dir: string, text: string): string {
  const store = newStore(dir);
  store.append({ type: "message", message: { role: "user", content: text, timestamp: 1 } });
  store.close();
  return store.path ?? "";
}

const userTexts = ({ sessions }: RpcHarness) =>
  sessions.current.session.messages.flatMap((message) => (message.role === "user" ? [textOf(message)] : []));

/** A server with a run that is in the middle of two tools. */
async function busy(): Promise<RpcHarness & { stopped: () => number }> {
  const [one, two] = [gate(), gate()];
  let stopped = 0;
  const slow = (name: string, began: () => void) =>
    tool(name, async (signal) => {
      began();
      await new Promise((resolve) => signal.addEventListener("abort", () => resolve(undefined)));
      stopped++;
    });
  const rpc = await startRpc([reply(toolCall("one"), toolCall("two")), reply("next")], {
    tools: [slow("one", one.open), slow("two", two.open)],
  });
  await rpc.client.send("prompt", { message: "go" });
  await Promise.all([one.opened, two.opened]);
  return { ...rpc, stopped: () => stopped };
}

describe("another session in the place of this one", () => {
  it.each<[string, (rpc: RpcHarness) => Promise<unknown>]>([
    ["new_session", ({ client }) => client.send("new_session")],
    ["switch_session", ({ client, dir }) => client.send("switch_session", { sessionPath: kept(dir, "old") })],
    ["clone", ({ client }) => client.send("clone")],
    [
      "fork",
      async ({ client }) => {
        const { messages } = await client.send("get_fork_messages");
        return client.send("fork", { entryId: messages[0]?.entryId ?? "" });
      },
    ],
  ])(
    "R159 %s during a run aborts and settles the old run first, and nothing of it comes after",
    async (_name, replace) => {
      const rpc = await busy();
      const old = rpc.sessions.current;
      const { sessionId } = await rpc.client.send("get_state");
      expect(await replace(rpc)).toMatchObject({ cancelled: false });
      expect(rpc.stopped()).toBe(2);
      const records = rpc.records();
      expect(records.filter(({ type }) => type === "agent_settled")).toMatchObject([{ aborted: true }]);
      expect(records.at(-1)).toMatchObject({ type: "response", success: true });
      await expect(old.session.dispatch({ type: "prompt", message: "x" })).rejects.toThrow("closed");
      const state = await rpc.client.send("get_state");
      expect(state.sessionId).not.toBe(sessionId);
      expect(state.isStreaming).toBe(false);
      expect(await rpc.client.promptAndWait("again")).toMatchObject({ status: "done" });
      expect(rpc.records().filter(({ type }) => type === "agent_settled")).toHaveLength(2);
    },
  );

  it("R159 a clone during a run is made when the run has settled: no call is open in it", async () => {
    const rpc = await busy();
    await rpc.client.send("clone");
    const roles = rpc.sessions.current.session.messages.map(({ role }) => role);
    expect(roles.slice(0, 4)).toEqual(["user", "assistant", "toolResult", "toolResult"]);
  });

  it("R159 what was said before and after the change goes to its own session, in order", async () => {
    const rpc = await startRpc(() => reply("ok"));
    const lines = ["one", "two"].flatMap((message) => [
      { type: "new_session" },
      { id: message, type: "prompt", message },
    ]);
    rpc.raw(lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
    await rpc.seen("agent_settled", 2);
    expect(userTexts(rpc)).toEqual(["two"]);
    expect(
      rpc
        .records()
        .filter(({ id }) => id)
        .map(({ success }) => success),
    ).toEqual([true, true]);
  });

  it("R105 a session that another one writes to is refused, and this one continues", async () => {
    const rpc = await startRpc([reply("still here")]);
    const path = kept(rpc.dir, "theirs");
    const theirs = openSessionStore(path);
    const refused = rpc.client.send("switch_session", { sessionPath: path });
    await expect(refused).rejects.toThrow(/is being written by process \d+/);
    theirs.close();
    expect(await rpc.client.promptAndWait("go")).toMatchObject({ status: "done" });
  });

  it("a run is not aborted for a session that is not there", async () => {
    const rpc = await busy();
    await expect(rpc.client.send("switch_session", { sessionPath: "nowhere.jsonl" })).rejects.toThrow(
      "no session file",
    );
    await expect(rpc.client.send("fork", { entryId: "none" })).rejects.toThrow("no user message none");
    expect(await rpc.client.send("get_state")).toMatchObject({ isStreaming: true });
  });

  it("switching to the session that is open settles it and keeps it", async () => {
    const rpc = await busy();
    const { sessionFile = "", sessionId } = await rpc.client.send("get_state");
    await rpc.client.send("switch_session", { sessionPath: sessionFile });
    expect(await rpc.client.send("get_state")).toMatchObject({ sessionId, isStreaming: false });
    expect(await rpc.client.promptAndWait("again")).toMatchObject({ status: "done" });
  });

  it("switches to a kept session and shows what was said in it", async () => {
    const rpc = await startRpc([reply("one")]);
    await rpc.client.promptAndWait("mine");
    const mine = rpc.sessions.current.store.path ?? "";
    await rpc.client.send("switch_session", { sessionPath: kept(rpc.dir, "old") });
    expect(userTexts(rpc)).toEqual(["old"]);
    await rpc.client.send("switch_session", { sessionPath: mine });
    expect((await rpc.client.send("get_messages")).messages.map(({ role }) => role)).toEqual(["user", "assistant"]);
  });

  it("forks before a user message and gives its text; the parent is named and unchanged", async () => {
    const rpc = await startRpc(() => reply("ok"));
    await rpc.client.promptAndWait("first");
    await rpc.client.promptAndWait("second");
    const parent = rpc.sessions.current.store.path;
    const { messages } = await rpc.client.send("get_fork_messages");
    expect(messages.map(({ text }) => text)).toEqual(["first", "second"]);
    expect(await rpc.client.send("fork", { entryId: messages[1]?.entryId ?? "" })).toEqual({
      text: "second",
      cancelled: false,
    });
    expect(userTexts(rpc)).toEqual(["first"]);
    await rpc.client.promptAndWait("another second");
    const { store } = rpc.sessions.current;
    expect(store.header.parentSession).toBe(parent);
    expect(userTexts(rpc)).toEqual(["first", "another second"]);
    expect(entriesOf(openSessionStore(parent ?? "", { readOnly: true }))).toEqual(["first", "second"]);
  });

  it("F7 navigates in the tree of the session, with a summary of what is left behind", async () => {
    const rpc = await startRpc(({ context }) =>
      reply(JSON.stringify(context.messages).includes("The session left the branch") ? "left behind" : "ok"),
    );
    await rpc.client.promptAndWait("first");
    await rpc.client.promptAndWait("second");
    const { messages } = await rpc.client.send("get_fork_messages");
    const entryId = messages[1]?.entryId ?? "";
    const moved = await rpc.client.send("navigate", { entryId, summarize: true, customInstructions: "birds" });
    expect(moved).toMatchObject({ editorText: "second" });
    const { entries, leafId } = await rpc.client.send("get_entries");
    expect(entries.find(({ type }) => type === "branch_summary")).toMatchObject({ summary: "left behind" });
    expect(leafId).toBe(moved.leafId);
    await rpc.client.send("navigate", { entryId: messages[0]?.entryId ?? "" });
    expect((await rpc.client.send("get_messages")).messages).toEqual([]);
    await expect(rpc.client.send("navigate", { entryId: "nowhere" })).rejects.toThrow("no entry nowhere");
  });

  it("clones the branch into a file that is there at once", async () => {
    const rpc = await startRpc([reply("ok")]);
    await rpc.client.promptAndWait("first");
    await rpc.client.send("clone");
    const { sessionFile = "", messageCount } = await rpc.client.send("get_state");
    expect([existsSync(sessionFile), messageCount]).toEqual([true, 2]);
  });

  it("keeps the model, the listener and who answers; a session in memory stays in memory", async () => {
    const rpc = await startRpc(() => reply("ok"), { inMemory: true, store: newStore(tempDir()) });
    await rpc.client.send("hello", { capabilities: ["permission"] });
    await rpc.client.send("set_thinking_level", { level: "off" });
    await rpc.client.send("new_session");
    expect(await rpc.client.send("get_state")).not.toHaveProperty("sessionFile");
    await rpc.client.promptAndWait("hello");
    const { messages } = await rpc.client.send("get_fork_messages");
    await rpc.client.send("fork", { entryId: messages[0]?.entryId ?? "" });
    expect(await rpc.client.send("get_state")).not.toHaveProperty("sessionFile");
    await rpc.client.send("clone");
    expect(rpc.sessions.current.store.path).toBe(undefined);
  });

  it("names the parent that a client gives", async () => {
    const { client, sessions } = await startRpc([]);
    await client.send("new_session", { parentSession: "/parent.jsonl" });
    expect(sessions.current.store.header.parentSession).toBe("/parent.jsonl");
  });

  it("R293 lists the user messages of all branches to fork from, and forks from one that was left", async () => {
    const rpc = await startRpc(() => reply("ok"));
    await rpc.client.promptAndWait("one");
    await rpc.client.promptAndWait("two");
    const before = await rpc.client.send("get_fork_messages");
    await rpc.client.send("navigate", { entryId: before.messages[1]?.entryId ?? "" });
    await rpc.client.promptAndWait("another two");
    const { messages } = await rpc.client.send("get_fork_messages");
    expect(messages.map(({ text }) => text)).toEqual(["one", "two", "another two"]);
    expect(await rpc.client.send("fork", { entryId: messages[1]?.entryId ?? "" })).toMatchObject({ text: "two" });
    expect(rpc.sessions.current.session.messages).toHaveLength(2);
  });

  it("R293 there is nothing to clone in a session in which nothing was said", async () => {
    const rpc = await startRpc(() => reply("ok"));
    const { sessionId } = await rpc.client.send("get_state");
    await expect(rpc.client.send("clone")).rejects.toMatchObject({ code: "nothing_to_clone" });
    await rpc.client.send("set_session_name", { name: "named, and still empty" });
    await expect(rpc.client.send("clone")).rejects.toMatchObject({ code: "nothing_to_clone" });
    expect(await rpc.client.send("get_state")).toMatchObject({ sessionId });
    await rpc.client.promptAndWait("hello");
    expect(await rpc.client.send("clone")).toEqual({ cancelled: false });
  });

  it.each(["", " ", "\n\t"])("R293 the name %j is refused and the old one stays", async (name) => {
    const rpc = await startRpc([]);
    await rpc.client.send("set_session_name", { name: "kept" });
    await expect(rpc.client.send("set_session_name", { name })).rejects.toMatchObject({ code: "empty_name" });
    expect(await rpc.client.send("get_state")).toMatchObject({ sessionName: "kept" });
  });
});

function entriesOf(store: SessionStore): unknown[] {
  return store
    .entries()
    .flatMap((entry) => (entry.type === "message" && entry.message.role === "user" ? [textOf(entry.message)] : []));
}
