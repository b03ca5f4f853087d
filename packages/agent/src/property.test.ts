import type { Context } from "@tau/llm";
import { createScript, type ScriptBlock, type ScriptFault, type ScriptReply, thinking } from "@tau/llm/testing";
import fc from "fast-check";
import { expect, it } from "vitest";
import { after, call, eventFaults, model, pairingFaults, results, textOf, tool } from "./__fixtures__/kit.ts";
import { Agent } from "./agent.ts";
import type { AgentEvent } from "./events.ts";

const never = () => new Promise<never>(() => undefined);
const pause = () => new Promise((resolve) => setImmediate(resolve));

const TOOLS = [
  tool("quick"),
  tool("slow", async () => {
    await pause();
    await pause();
    return "slow";
  }),
  tool("throws", () => Promise.reject(new Error("tool failed"))),
  tool("deaf", never),
  tool(
    "heeds",
    (_args, signal) =>
      new Promise((_resolve, reject) =>
        signal.addEventListener("abort", () => reject(new Error("stopped")), { once: true }),
      ),
  ),
  tool("junk", () => 5),
  tool("ordered", pause as never, { executionMode: "sequential" }),
  tool("strict", () => "x", { parameters: { type: "object", properties: { n: { type: "number" } }, required: ["n"] } }),
  tool("ends", () => ({ content: [], details: {}, terminate: true })),
];
const NAMES = [...TOOLS.map(({ name }) => name), "missing", ""];

const block: fc.Arbitrary<ScriptBlock> = fc.oneof(
  { weight: 1, arbitrary: fc.constantFrom<ScriptBlock>("some text", "", thinking("hm")) },
  {
    weight: 2,
    arbitrary: fc
      .tuple(fc.constantFrom(...NAMES), fc.constantFrom("", "same", undefined))
      .map(([name, id]) => call(name, {}, id)),
  },
);
const FAULTS: ScriptFault[] = [
  "throw",
  "reject",
  "never_start",
  "end_without_done",
  "throw_midway",
  "hang",
  "hang_midway",
];
const step: fc.Arbitrary<ScriptReply> = fc.record(
  {
    content: fc.array(block, { maxLength: 4 }),
    stopReason: fc.option(fc.constantFrom("stop", "length", "error"), { nil: undefined }) as fc.Arbitrary<"stop">,
    fault: fc.option(fc.constantFrom(...FAULTS), { nil: undefined, freq: 6 }) as fc.Arbitrary<ScriptFault>,
    chunkSize: fc.constantFrom(1, 3, 64),
    ignoreAbort: fc.boolean(),
  },
  { requiredKeys: ["content"] },
);

type Act = { at: number; what: "abort" | "interrupt" | "steer" | "follow_up" | "throw" | "wait" };
const act: fc.Arbitrary<Act> = fc.record({
  at: fc.nat(40),
  what: fc.constantFrom("abort", "interrupt", "steer", "steer", "follow_up", "follow_up", "throw", "wait"),
});
const scene = fc.record({
  steps: fc.array(step, { maxLength: 6 }),
  acts: fc.array(act, { maxLength: 6 }),
  toolExecution: fc.constantFrom("parallel" as const, "sequential" as const),
  mode: fc.constantFrom("one-at-a-time" as const, "all" as const),
  gate: fc.constantFrom("none", "denies", "hangs", "throws", "changes"),
  runs: fc.integer({ min: 1, max: 3 }),
});
type Scene = typeof scene extends fc.Arbitrary<infer T> ? T : never;

function beforeToolCall(gate: string) {
  if (gate === "none") return {};
  return {
    beforeToolCall: async ({ toolCall }: { toolCall: { name: string } }) => {
      if (toolCall.name !== "quick") return undefined;
      if (gate === "hangs") return never();
      if (gate === "throws") throw new Error("gate");
      return gate === "denies" ? { block: true } : { args: { changed: true } };
    },
  };
}

/** Plays a scene; hangs are met by an abort, as a user would. */
async function play({ steps, acts, toolExecution, mode, gate, runs }: Scene) {
  const clean = steps.map(
    (one) =>
      Object.fromEntries(Object.entries(one).filter(([, value]) => value !== undefined)) as unknown as ScriptReply,
  );
  const script = createScript((_call, index) => clean[index] ?? { content: ["the end"] }, { copyContexts: false });
  const contexts: Context[] = [];
  const agent = new Agent({
    initialState: { model, tools: TOOLS },
    streamFn: (...args) => {
      contexts.push({ ...args[1], messages: args[1].messages.slice() });
      return script.streamFn(...args);
    },
    limits: { abortGraceMs: 2, maxTurns: 12 },
    steeringMode: mode,
    followUpMode: mode,
    toolExecution,
    ...beforeToolCall(gate),
  });
  const events: AgentEvent[] = [];
  const queued: string[] = [];
  const send: Record<Act["what"], (text: string) => unknown> = {
    abort: () => agent.abort(),
    interrupt: (text) => after(queued.push(text), void agent.interrupt(text)),
    steer: (text) => after(queued.push(text), agent.steer(text)),
    follow_up: (text) => after(queued.push(text), agent.followUp(text)),
    wait: pause,
    throw: () => Promise.reject(new Error("listener")),
  };
  agent.subscribe((event) => void events.push(event));
  agent.subscribe(async (event) => {
    if (event.type === "listener_error") return;
    const at = events.filter(({ type }) => type !== "listener_error").length;
    for (const [index, one] of acts.entries()) if (one.at === at) await send[one.what](`m${at}-${index}`);
  });
  for (let run = 0; run < runs; run++) {
    const watchdog = setInterval(() => agent.abort(), 15);
    await agent.prompt(`run ${run}`);
    clearInterval(watchdog);
    expect(agent.state).toMatchObject({ isStreaming: false, pendingToolCalls: new Set() });
  }
  return { agent, events, contexts, queued };
}

function runsOf(events: AgentEvent[]): AgentEvent[][] {
  const runs: AgentEvent[][] = [];
  for (const event of events) {
    if (event.type === "agent_start") runs.push([]);
    runs.at(-1)?.push(event);
  }
  return runs;
}

it("T4 C5 Q4 in random scenes every message starts and ends once, every call has one result, nothing is lost", async () => {
  await fc.assert(
    fc.asyncProperty(scene, async (one) => {
      const { agent, events, contexts, queued } = await play(one);
      for (const run of runsOf(events)) expect(eventFaults(run)).toEqual([]);
      for (const { messages } of contexts) expect(pairingFaults(messages)).toEqual([]);
      const calls = agent.state.messages
        .flatMap((message) => (message.role === "assistant" ? message.content : []))
        .filter(({ type }) => type === "toolCall");
      expect(results(agent.state.messages)).toHaveLength(calls.length);
      const { steering, followUp } = agent.clearAllQueues();
      const found = [...agent.state.messages, ...steering, ...followUp].map(textOf);
      for (const text of queued)
        expect(
          found.filter((other) => other === text),
          text,
        ).toHaveLength(1);
      const ended = events.flatMap((event) => (event.type === "message_end" ? [event.message] : []));
      expect(agent.state.messages).toEqual(ended);
    }),
    { numRuns: 220 },
  );
}, 60_000);

const ONE_LAW_EACH = [
  "T2 in random scenes the events of every turn are in order",
  "T4 in random scenes every run has one start and one end",
  "S3 in random scenes every message has one start and one end",
  "C5 in random scenes every call ends with one result",
  "C6 in random scenes results are in call order",
];
it.each(ONE_LAW_EACH)(
  "%s",
  async () => {
    await fc.assert(
      fc.asyncProperty(scene, async (one) => {
        const { events } = await play(one);
        for (const run of runsOf(events)) expect(eventFaults(run)).toEqual([]);
      }),
      { numRuns: 20 },
    );
  },
  60_000,
);

it("Q4 in random scenes a restored snapshot continues with everything that was queued", async () => {
  await fc.assert(
    fc.asyncProperty(scene, fc.nat(60), async (one, at) => {
      const clean = one.steps.filter((given) => !given.fault);
      const script = createScript((_call, index) => clean[index] ?? { content: ["the end"] }, { copyContexts: false });
      const options = {
        initialState: { model, tools: TOOLS },
        limits: { abortGraceMs: 2, maxTurns: 12 },
        toolExecution: one.toolExecution,
      };
      const agent = new Agent({ ...options, streamFn: script.streamFn });
      let count = 0;
      let snapshot: ReturnType<Agent["snapshot"]> | undefined;
      agent.subscribe(() => {
        if (count === 3) agent.followUp("queued");
        if (count++ === at) snapshot = agent.snapshot();
      });
      const watchdog = setInterval(() => agent.abort(), 15);
      await agent.prompt("go");
      clearInterval(watchdog);
      if (!snapshot || snapshot.messages.length === 0) return;
      const contexts: Context[] = [];
      const end = createScript(() => ({ content: ["the end"] }), { copyContexts: false });
      const other = new Agent({
        ...options,
        streamFn: (...args) => after(contexts.push(args[1]), end.streamFn(...args)),
      });
      other.restore(JSON.parse(JSON.stringify(snapshot)));
      expect(other.snapshot()).toEqual(snapshot);
      await other.prompt("on");
      for (const { messages } of contexts) expect(pairingFaults(messages)).toEqual([]);
      const waiting = snapshot.followUp.length;
      expect(
        other.state.messages.slice(snapshot.messages.length).filter((message) => textOf(message) === "queued"),
      ).toHaveLength(waiting);
    }),
    { numRuns: 40 },
  );
}, 60_000);
