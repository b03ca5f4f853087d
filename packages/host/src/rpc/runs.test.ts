import { failure, reply, type ScriptReply, toolCall } from "@tau/llm/testing";
import { describe, expect, it } from "vitest";
import type { Compactor } from "../compaction/compactor.ts";
import { cleanUpAfterEach, gate, textOf, tool } from "../session/__fixtures__/harness.ts";
import type { PermissionGate } from "../session/permission/permission.ts";
import { endServersAfterEach, type RpcHarness, startRpc } from "./__fixtures__/rpc-harness.ts";

cleanUpAfterEach();
endServersAfterEach();

/** A tool that runs until it is stopped, and then until it is let go. */
function slowToDie() {
  const began = gate();
  const dying = gate();
  const letGo = gate();
  const slow = tool("slow", async (signal) => {
    began.open();
    await new Promise((resolve) => signal.addEventListener("abort", () => resolve(undefined)));
    dying.open();
    await letGo.opened;
  });
  return { slow, began: began.opened, dying: dying.opened, letGo: letGo.open };
}

const settled = ({ records }: RpcHarness) => records().filter(({ type }) => type === "agent_settled");
const userTexts = ({ sessions }: RpcHarness) =>
  sessions.current.session.messages.flatMap((message) => (message.role === "user" ? [textOf(message)] : []));

describe("runs over RPC", () => {
  it("R004 a follow-up between the stop and the end of the run is kept and sent", async () => {
    const { slow, began, dying, letGo } = slowToDie();
    const rpc = await startRpc([reply(toolCall("slow")), reply("after")], { tools: [slow] });
    const { client, seen } = rpc;
    await client.send("prompt", { message: "go" });
    await began;
    const aborted = client.send("abort");
    await dying;
    expect(await client.send("follow_up", { message: "later" })).toEqual({ disposition: "queued" });
    letGo();
    await aborted;
    await seen("agent_settled", 2);
    expect(settled(rpc).map((event) => event.aborted)).toEqual([true, false]);
    expect(userTexts(rpc)).toEqual(["go", "later"]);
    rpc.script.assertDone();
  });

  it.each(["prompt", "steer", "follow_up", "interrupt"] as const)(
    "R293 a %s that is refused has a word for people directly in front of its response",
    async (type) => {
      const refuse = (text: string) => {
        if (text.startsWith("/")) throw new Error("There is no command /fxi. Did you mean /fix?");
        return text;
      };
      const rpc = await startRpc([], { expand: refuse });
      await expect(rpc.client.send(type, { message: "/fxi" })).rejects.toThrow("no command /fxi");
      const notice = { type: "extension_ui_request", method: "notify", notifyType: "error", id: expect.any(String) };
      expect(rpc.records()).toMatchObject([
        { ...notice, message: "There is no command /fxi. Did you mean /fix?" },
        { type: "response", command: type, success: false },
      ]);
      await expect(rpc.client.send("get_entries", { since: "none" })).rejects.toThrow("no entry");
      expect(rpc.records().filter((record) => record.type === "extension_ui_request")).toHaveLength(1);
    },
  );

  it("Q1 Q3 steers, follows up, interrupts, and takes the queues back", async () => {
    const step = gate();
    const rpc = await startRpc(
      [{ ...reply(toolCall("wait")), gate: step.opened }, reply("one"), reply("two"), reply("three")],
      { tools: [tool("wait")] },
    );
    const { client, seen } = rpc;
    await client.send("prompt", { message: "go" });
    await expect(client.send("prompt", { message: "refused" })).rejects.toThrow("streamingBehavior");
    await client.send("follow_up", { message: "gone" });
    expect(await client.send("clear_queue")).toEqual({ steering: [], followUp: ["gone"] });
    expect(await client.send("prompt", { message: "B", streamingBehavior: "followUp" })).toEqual({
      disposition: "queued",
    });
    await client.send("steer", { message: "A" });
    expect(await client.send("get_state")).toMatchObject({ isStreaming: true, pendingMessageCount: 2 });
    step.open();
    await seen("agent_settled");
    expect(userTexts(rpc)).toEqual(["go", "A", "B"]);
    await client.send("interrupt", { message: "now" });
    await seen("agent_settled", 2);
    rpc.script.assertDone();
  });

  it("R106 during a compaction a second one and a prompt are refused, a jump waits for its end, and nothing is lost", async () => {
    const { open, opened } = gate();
    const began = gate();
    const compactor: Compactor = {
      shouldCompact: () => false,
      async compact({ store }) {
        began.open();
        await opened;
        return { summary: "short", firstKeptEntryId: store.leafId ?? "", tokensBefore: 9 };
      },
    };
    const rpc = await startRpc([reply("one"), reply("two")], { compactor });
    const { client, seen, sessions } = rpc;
    await client.promptAndWait("first");
    const before = sessions.current.store.entries().map(({ id }) => id);
    const first = client.send("compact", { customInstructions: "x" });
    await began.opened;
    expect(await client.send("get_state")).toMatchObject({ isCompacting: true, isStreaming: false });
    await expect(client.send("compact")).rejects.toThrow("in progress");
    await expect(client.send("prompt", { message: "p" })).rejects.toThrow("streamingBehavior");
    expect(await client.send("prompt", { message: "second", streamingBehavior: "followUp" })).toEqual({
      disposition: "queued",
    });
    open();
    expect(await first).toMatchObject({ summary: "short", tokensBefore: 9, estimatedTokensAfter: expect.any(Number) });
    await seen("agent_settled", 2);
    const { entries } = await client.send("get_entries");
    expect(entries.map(({ id }) => id)).toEqual(expect.arrayContaining(before));
    expect(userTexts(rpc)).toContain("second");
    rpc.script.assertDone();
  });

  it("R106 a jump to another session ends the compaction first", async () => {
    const began = gate();
    const compactor: Compactor = {
      shouldCompact: () => false,
      compact: () => {
        began.open();
        return new Promise(() => undefined);
      },
    };
    const { client, types } = await startRpc([reply("one")], { compactor });
    await client.promptAndWait("first");
    const compacted = client.send("compact");
    const refused = expect(compacted).rejects.toThrow("aborted");
    await began.opened;
    await client.send("clone");
    await refused;
    expect(types().slice(-2)).toEqual(["compaction_start", "compaction_end"]);
    expect(await client.send("get_state")).toMatchObject({ isCompacting: false, messageCount: 2 });
  });

  it.each<[string, ScriptReply]>([
    ["throws", { ...reply("x"), fault: "throw" }],
    ["rejects", { ...reply("x"), fault: "reject" }],
    ["never starts", { ...reply("x"), fault: "never_start" }],
    ["ends without its end", { ...reply("x"), fault: "end_without_done" }],
    ["throws midway", { ...reply("some words"), fault: "throw_midway" }],
    ["fails", failure("400 bad request", "invalid_request")],
    ["is cut off in its calls", { ...reply(toolCall("t")), fault: "end_without_done" }],
  ])("R184 has exactly one terminal event, with a reason, when the model's stream %s", async (_name, step) => {
    const rpc = await startRpc(() => step, { tools: [tool("t")] });
    await rpc.client.send("set_auto_retry", { enabled: false });
    const outcome = await rpc.client.promptAndWait("go");
    await rpc.client.send("get_state");
    expect(outcome.status).toBe("error");
    expect(settled(rpc)).toEqual([{ type: "agent_settled", aborted: false, outcome }]);
    expect(rpc.records().filter(({ type }) => type === "agent_end")).toHaveLength(1);
  });

  it("E6 agent_end says that a retry follows, and agent_settled comes once, after it", async () => {
    const rpc = await startRpc([failure("529 overloaded", "retryable"), reply("ok")]);
    expect(await rpc.client.promptAndWait("go")).toMatchObject({ status: "done" });
    const told = rpc.types().filter((type) => /^agent|retry_start/.test(type));
    expect(told).toEqual(["agent_start", "agent_end", "auto_retry_start", "agent_start", "agent_end", "agent_settled"]);
    const ends = rpc.records().filter(({ type }) => type === "agent_end");
    expect(ends.map(({ willRetry }) => willRetry)).toEqual([true, false]);
  });

  it("R184 an abort settles a stream that hangs, once", async () => {
    const rpc = await startRpc([{ ...reply("some words"), fault: "hang_midway" }]);
    await rpc.client.send("prompt", { message: "go" });
    await rpc.seen("message_start", 2);
    expect(await rpc.client.send("abort")).toEqual({ steering: [], followUp: [] });
    expect(settled(rpc)).toMatchObject([{ type: "agent_settled", aborted: true, outcome: { status: "aborted" } }]);
  });

  it("R184 the end of the input aborts what runs, settles it, and answers what is open", async () => {
    const { slow, began, letGo } = slowToDie();
    const rpc = await startRpc([reply(toolCall("slow"))], { tools: [slow] });
    await rpc.client.send("prompt", { message: "go" });
    await began;
    const last = rpc.client.send("get_last_assistant_text");
    letGo();
    await rpc.end();
    expect(await last).toEqual({ text: null });
    expect(settled(rpc)).toMatchObject([{ aborted: true }]);
    expect(rpc.records().at(-1)).toMatchObject({ type: "agent_settled" });
  });
});

describe("the end of the input", () => {
  it("R184 waits for what is not answered yet", async () => {
    const { open, opened } = gate();
    const services = { availableModels: () => opened.then(() => []) };
    const { client, raw, records, sessions, end } = await startRpc([], { services });
    await client.send("hello");
    raw('{"id":"late","type":"get_available_models"}\n');
    const ended = end();
    await sessions.dispose();
    setImmediate(open);
    await ended;
    expect(records().at(-1)).toMatchObject({ id: "late", success: true, data: { models: [] } });
  });
});

const asking: PermissionGate = {
  async decide(_request, { ask }) {
    if (!ask) return { action: "deny", reason: "nobody is there", unattended: true };
    const answer = await ask("It writes.");
    return answer.decision === "allow" ? { action: "allow" } : { action: "deny", reason: answer.reason ?? "no" };
  },
};

describe("permission over RPC", () => {
  const steps = [reply(toolCall("write", { n: 1 })), reply("done")];

  it("P3 nobody is asked before a client says that it answers", async () => {
    const { client } = await startRpc(steps, { tools: [tool("write")], permission: asking });
    expect(await client.promptAndWait("go")).toMatchObject({ status: "denied", denied: [{ toolName: "write" }] });
  });

  it.each([
    ["its id as the command's", (id: string) => ({ id, type: "respond_permission", decision: "allow" })],
    [
      "its id in a field",
      (id: string) => ({ id: "r", type: "respond_permission", permissionId: id, decision: "allow", scope: "session" }),
    ],
  ])("P3 asks the client and runs what it allows, with %s", async (_name, answer) => {
    const { client, raw, seen, records, types } = await startRpc(steps, { tools: [tool("write")], permission: asking });
    await client.send("hello", { capabilities: ["permission"] });
    await client.send("prompt", { message: "go" });
    await seen("permission_request");
    const request = records().find(({ type }) => type === "permission_request");
    expect(request).toMatchObject({ toolName: "write", args: { n: 1 }, reason: "It writes." });
    const { openQuestions } = await client.send("get_state");
    expect(openQuestions.map(({ id }) => id)).toEqual([request?.id]);
    raw(`${JSON.stringify(answer(request?.id))}\n`);
    await seen("agent_settled");
    expect(records().filter(({ command }) => command === "respond_permission")).toMatchObject([{ success: true }]);
    expect(types()).toContain("permission_resolved");
    expect(records().at(-1)).toMatchObject({ outcome: { status: "done" } });
  });

  it("R180 an abort with an open question settles, closes the call, and a late answer is refused", async () => {
    const { client, seen, records, sessions } = await startRpc(steps, { tools: [tool("write")], permission: asking });
    await client.send("hello", { capabilities: ["permission"] });
    await client.send("prompt", { message: "go" });
    await seen("permission_request");
    const { id } = records().find(({ type }) => type === "permission_request") ?? {};
    await client.send("abort");
    expect(records().find(({ type }) => type === "agent_settled")).toMatchObject({ aborted: true });
    const results = sessions.current.session.messages.filter(({ role }) => role === "toolResult");
    expect(results).toMatchObject([{ isError: true }]);
    const late = client.send("respond_permission", { permissionId: id, decision: "allow" });
    await expect(late).rejects.toThrow("There is no open permission request");
    expect(await client.send("get_state")).toMatchObject({ isStreaming: false, openQuestions: [] });
  });
});
