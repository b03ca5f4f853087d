import { type AgentMessage, brokenReplyResults } from "@tau/agent";
import type { Context, ErrorKind } from "@tau/llm";
import { failure, reply, type ScriptReply, text, toolCall } from "@tau/llm/testing";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { openSessionStore } from "../../store/open-session.ts";
import { cleanUpAfterEach, type Harness, other, reopen, startSession, textOf, tool } from "../__fixtures__/harness.ts";
import type { AgentSession } from "../agent-session.ts";
import type { PermissionGate } from "../permission/permission.ts";

cleanUpAfterEach();

const kinds = ["retryable", "overflow", "auth", "quota", "invalid_request", "content_filter", "unknown"] as const;
const faults = ["throw", "reject", "never_start", "end_without_done", "throw_midway", "hang_midway"] as const;

const anyReply: fc.Arbitrary<ScriptReply> = fc.oneof(
  { weight: 3, arbitrary: fc.constant(reply("text")) },
  {
    weight: 4,
    arbitrary: fc
      .array(fc.constantFrom("ok", "throws", "steers", "slow"), { minLength: 1, maxLength: 3 })
      .map((names) => reply(...names.map((name) => toolCall(name)))),
  },
  fc.constantFrom<ErrorKind>(...kinds).map((kind) => failure("a fault about an image", kind)),
  fc.constantFrom(...faults).map((fault) => ({ ...reply(text("half"), toolCall("ok")), fault })),
  fc.constant({ ...reply(), stopReason: "length" as const, usage: { input: 10, output: 5 } }),
  fc.constant(reply()),
);

interface Plan {
  replies: ScriptReply[];
  prompts: number;
  /** Numbers of events at which something is done to the session. */
  abortAt: number[];
  steerAt: number[];
  followAt: number[];
}

const moments = fc.array(fc.integer({ min: 1, max: 60 }), { maxLength: 3 });
const plan: fc.Arbitrary<Plan> = fc.record({
  replies: fc.array(anyReply, { minLength: 1, maxLength: 12 }),
  prompts: fc.integer({ min: 1, max: 3 }),
  abortAt: moments,
  steerAt: moments,
  followAt: moments,
});

const gate: PermissionGate = {
  async decide({ toolName }, { ask }) {
    if (toolName === "throws") return { action: "deny", reason: "not this one" };
    if (toolName !== "slow") return { action: "allow" };
    const given = await ask?.("it is slow");
    return given?.decision === "allow" ? { action: "allow" } : { action: "deny", reason: "no" };
  },
};

function answer(session: AgentSession, id: string, now: boolean): void {
  const decision = now ? "allow" : "deny";
  const give = () =>
    // An abort may have answered it.
    void session.dispatch({ type: "respond_permission", permissionId: id, decision }).catch(() => undefined);
  if (now) give();
  else setTimeout(give, 1);
}

/** Runs a plan. Returns the texts that were accepted. */
async function play({ replies, prompts, abortAt, steerAt, followAt }: Plan) {
  const accepted: string[] = [];
  let count = 0;
  const queue = (kind: "steer" | "followUp") => {
    const text = `${kind} ${accepted.length}`;
    harness.session[kind](text);
    accepted.push(text);
  };
  const next = (_call: unknown, index: number) => {
    const step = replies[index % replies.length] ?? reply("text");
    return index < 40 ? step : reply("enough");
  };
  const harness = await startSession(next, {
    tools: [
      tool("ok"),
      tool("throws", () => Promise.reject(new Error("no"))),
      tool("steers", () => queue("steer")),
      tool("slow", () => new Promise<void>((resolve) => setTimeout(resolve, 1))),
    ],
    attended: true,
    permission: gate,
    settings: { fallbackModels: [other], limits: { abortGraceMs: 50, maxIdenticalCalls: 6 }, budget: { maxTurns: 60 } },
  });
  harness.session.subscribe((event) => {
    if (event.type === "message_update") return;
    // Every other question is answered at once, the others only when something else happens.
    if (event.type === "permission_request") answer(harness.session, event.id, count % 2 === 0);
    count++;
    if (abortAt.includes(count)) void harness.session.abort();
    if (harness.session.state.isStreaming && steerAt.includes(count)) queue("steer");
    if (harness.session.state.isStreaming && followAt.includes(count)) queue("followUp");
  });
  // A hanging reply is cut, also one of a run that a late message has begun.
  const stuck = setInterval(() => void harness.session.abort(), 30);
  for (let index = 0; index < prompts; index++) {
    await harness.session.dispatch({ type: "wait" });
    const run = harness.session.prompt(`prompt ${index}`);
    accepted.push(`prompt ${index}`);
    await run;
    await harness.session.dispatch({ type: "wait" });
  }
  clearInterval(stuck);
  return { ...harness, accepted };
}

/** What every provider wants of a request: each call is answered right behind it, each result has its call. */
function expectPaired(context: Context): void {
  let open: string[] = [];
  const seen = new Set<string>();
  for (const message of context.messages) {
    if (message.role === "toolResult") {
      expect(open).toContain(message.toolCallId);
      open = open.filter((id) => id !== message.toolCallId);
      continue;
    }
    expect(open).toEqual([]);
    if (message.role !== "assistant") continue;
    open = message.content.flatMap((block) => (block.type === "toolCall" ? [block.id] : []));
    for (const id of open) expect(seen.has(id)).toBe(false);
    for (const id of open) seen.add(id);
  }
  expect(open).toEqual([]);
}

function expectSound({ events, session, script, store, accepted }: Harness & { accepted: string[] }): void {
  const settled = events.filter(({ type }) => type === "agent_settled").length;
  const late = events.filter(({ type }) => type === "agent_start").length;
  expect(settled).toBeGreaterThan(0);
  expect(settled).toBeLessThanOrEqual(late);
  expect(session.state).toMatchObject({ isStreaming: false, phase: "idle", openQuestions: [] });
  expect(events.filter(({ type }) => type === "listener_error")).toEqual([]);
  for (const { context } of script.calls) expectPaired(context);
  const file = openSessionStore(store.path ?? "", { readOnly: true });
  expect(file.warnings).toEqual([]);
  // What closes the calls of a reply that broke off follows from the reply and is not in the file.
  const entered = file
    .entries()
    .flatMap((entry) => (entry.type === "message" ? [entry.message, ...closing(entry.message)] : []));
  const users = entered.filter(({ role }) => role === "user").map(textOf);
  const { steering, followUp } = session.state.queued;
  expect([...users, ...steering, ...followUp].sort()).toEqual([...accepted].sort());
  expectOneEach(
    events.flatMap((event) => (event.type === "message_end" ? [event.message] : [])),
    entered,
  );
}

const closing = (message: AgentMessage) => (message.role === "assistant" ? brokenReplyResults(message) : []);

/** Every message that was shown is in the file, once. */
function expectOneEach(shown: readonly AgentMessage[], entered: readonly AgentMessage[]): void {
  const key = (message: AgentMessage) => JSON.stringify(message);
  const conversation = (list: readonly AgentMessage[]) =>
    list.filter(({ role }) => role !== "system" && role !== "custom").map(key);
  expect(conversation(entered)).toEqual(conversation(shown));
}

describe("random faults, aborts and steering", () => {
  it("E6 Q4 R184 each prompt settles once, nothing is lost, every request is paired, the file is readable and continues", async () => {
    await fc.assert(
      fc.asyncProperty(plan, async (given) => {
        const played = await play(given);
        expectSound(played);
        const resumed = await reopen(played, [reply("on")], { tools: [tool("ok")] });
        await resumed.session.dispatch({ type: "clear_queue" });
        expect(await resumed.session.prompt("after all")).toMatchObject({ status: "done" });
        for (const { context } of resumed.script.calls) expectPaired(context);
        await resumed.session.dispose();
      }),
      { numRuns: 40, timeout: 10_000 },
    );
  });

  it("R184 each accepted prompt has exactly one agent_settled when nothing is queued", async () => {
    await fc.assert(
      fc.asyncProperty(plan, async (given) => {
        const quiet = { ...given, steerAt: [], followAt: [], replies: given.replies.filter(noSteering) };
        const { events, session } = await play(quiet);
        expect(events.filter(({ type }) => type === "agent_settled")).toHaveLength(given.prompts);
        await session.dispose();
      }),
      { numRuns: 30, timeout: 10_000 },
    );
  });
});

const noSteering = ({ content }: ScriptReply) => !JSON.stringify(content).includes("steers");
