import { createScript, reply, type ScriptStep } from "@tau/llm/testing";
import { describe, expect, it } from "vitest";
import {
  after,
  call,
  eventFaults,
  gate,
  model,
  outline,
  result,
  rig,
  textOf,
  tool,
  types,
  user,
} from "./__fixtures__/kit.ts";
import { defaultConvertToLlm } from "./convert.ts";
import type { AgentEvent } from "./events.ts";
import { runAgentLoop } from "./loop.ts";
import { agentLoop, agentLoopContinue, type PullInput } from "./pull.ts";

function stream(
  steps: ScriptStep[],
  {
    tools = [tool("a")],
    ...config
  }: Partial<Parameters<typeof agentLoop>[2]> & { tools?: ReturnType<typeof tool>[] } = {},
  signal?: AbortSignal,
) {
  const script = createScript(steps);
  const all = { model, convertToLlm: defaultConvertToLlm, limits: { abortGraceMs: 20 }, ...config };
  return { script, events: agentLoop([user("hi")], { messages: [], tools }, all, signal, script.streamFn) };
}

async function collect(events: AsyncIterable<AgentEvent>): Promise<AgentEvent[]> {
  const seen: AgentEvent[] = [];
  for await (const event of events) seen.push(event);
  return seen;
}

const settle = () => new Promise((resolve) => setImmediate(resolve));
const clean = (events: AgentEvent[]) => JSON.stringify(events).replace(/"timestamp":\d+|"durationMs":[\d.e-]+/g, "");

describe("the pull form", () => {
  it("L6 shows the same events in the same order as the push form, and the messages as its result", async () => {
    const steps = [reply("so", call("a"), call("a")), reply("end")];
    const pulled = stream(steps);
    const seen = await collect(pulled.events);
    const pushed = rig(steps, { tools: [tool("a")] });
    await pushed.agent.prompt(user("hi"));
    expect(clean(seen)).toBe(clean(pushed.events));
    expect(outline(await pulled.events.result())).toEqual(outline(pushed.agent.state.messages));
    expect((await pulled.events.next()).done).toBe(true);
  });

  it("B7 L6 the level that was asked for is on the replies, the same in the pull form, the push form and the plain loop", async () => {
    for (const thinkingLevel of [undefined, "off", "high"] as const) {
      const more = thinkingLevel && { thinkingLevel };
      const steps = [reply("so", call("a")), { ...reply("half"), fault: "throw_midway" as const }];
      const pulled = stream(steps, more);
      const seen = await collect(pulled.events);
      const script = createScript(steps);
      const looped: AgentEvent[] = [];
      const config = { model, convertToLlm: defaultConvertToLlm, ...more };
      const context = { messages: [], tools: [tool("a")] };
      await runAgentLoop([user("hi")], context, config, (event) => void looped.push(event), undefined, script.streamFn);
      const pushed = rig(steps, { tools: [tool("a")], initialState: { model, ...more } });
      await pushed.agent.prompt(user("hi"));
      expect(clean(seen)).toBe(clean(looped));
      expect(clean(pushed.events)).toBe(clean(looped));
      const replies = seen.flatMap((event) => (event.type === "turn_end" ? [event.message.thinkingLevel] : []));
      expect(replies).toEqual([thinkingLevel ?? "off", thinkingLevel ?? "off"]);
      const asked = [script, pulled.script, pushed.script].flatMap(({ calls }) => calls);
      for (const { options } of asked) expect(options.thinkingLevel).toBe(thinkingLevel ?? "off");
    }
  });

  it("L6 input that is none ends the stream with a clear error, and the run with it", async () => {
    for (const input of [
      5,
      {},
      { type: "steer" },
      { type: "interrupt", message: null },
      { type: "follow_up", message: {} },
    ]) {
      const { events, script } = stream([reply("so", call("a")), reply("never")]);
      await events.next();
      await expect(events.next(input as never)).rejects.toThrow(/text or a message/);
      expect((await events.next()).done).toBe(true);
      expect(script.calls).toHaveLength(0);
    }
  });

  it("Q4 what is left in the queues of a pulled run goes back to the one who can take it", async () => {
    const back: unknown[] = [];
    const { events } = stream([reply("so", call("a")), reply("never")], {
      returnMessages: (messages, from) => void back.push([from, ...messages.map(textOf)]),
    });
    let step = await events.next();
    while (!step.done && step.value.type !== "tool_execution_start") step = await events.next();
    await events.next({ type: "steer", message: "s" });
    await events.next({ type: "follow_up", message: "f" });
    await events.next({ type: "abort" });
    await collect(events);
    expect(back).toEqual([
      ["steering", "s"],
      ["follow_up", "f"],
    ]);
    const plain = stream([reply("all")], { returnMessages: () => back.push("nothing to take back") });
    await plain.events.result();
    expect(back).toHaveLength(2);
  });

  it("L6 leaving before the start makes no request, also when the result is asked for", async () => {
    const { events, script } = stream([reply("never")]);
    await events.return([]);
    expect(await events.result()).toEqual([]);
    expect(script.calls).toHaveLength(0);
  });

  it("L6 the run waits for the pull of its consumer", async () => {
    let ran = 0;
    const { events, script } = stream([reply(call("a")), reply("end")], { tools: [tool("a", () => String(ran++))] });
    expect(script.calls).toHaveLength(0);
    for (;;) {
      const { value } = await events.next();
      if (!value || Array.isArray(value) || value.type !== "tool_execution_start") continue;
      break;
    }
    for (let turn = 0; turn < 20; turn++) await settle();
    expect(ran).toBe(0);
    await events.next();
    expect(ran).toBe(1);
    await events.return([]);
  });

  it("L6 next takes steering, follow-ups, interrupts, permissions and abort", async () => {
    const drive = async (steps: ScriptStep[], inputs: Record<string, PullInput>, config = {}) => {
      const { events, script } = stream(steps, config);
      const seen: AgentEvent[] = [];
      let input: PullInput | undefined;
      for (;;) {
        const step = await events.next(input);
        if (step.done) return { seen, messages: step.value, script };
        seen.push(step.value);
        input = inputs[step.value.type];
        delete inputs[step.value.type];
      }
    };
    const steered = await drive([reply(call("a")), reply("1"), reply("2")], {
      tool_execution_end: { type: "steer", message: "left" },
      turn_end: { type: "follow_up", message: user("then") },
    });
    expect(outline(steered.messages)).toEqual([
      "user:hi",
      "assistant:call(a)",
      "toolResult:a",
      "user:left",
      "assistant:1",
      "user:then",
      "assistant:2",
    ]);
    const interrupted = await drive([{ ...reply("half of it"), chunkSize: 1, fault: "hang_midway" }, reply("new")], {
      message_update: { type: "interrupt", message: "stop" },
    });
    expect(outline(interrupted.messages).slice(-2)).toEqual(["user:stop", "assistant:new"]);
    expect(eventFaults(interrupted.seen)).toEqual([]);
    const aborted = await drive([reply(call("a"))], { tool_execution_start: { type: "abort" } });
    expect(aborted.messages.at(-1)).toMatchObject({ stopReason: "aborted" });
    const answers: unknown[] = [];
    const answered = gate();
    const asking = await drive(
      [reply(call("a")), reply("end")],
      { message_end: { type: "permission", id: "p1", decision: "allow" } },
      {
        onPermission: (answer: unknown) => after(answers.push(answer), answered.open()),
        beforeToolCall: async () => void (await answered.promise),
      },
    );
    expect(answers).toEqual([{ type: "permission", id: "p1", decision: "allow" }]);
    expect(outline(asking.messages).at(-1)).toBe("assistant:end");
  });

  it("L6 input reaches the run while the consumer waits for an event", async () => {
    const { events } = stream([{ ...reply("x"), fault: "hang" }]);
    const pending: Promise<IteratorResult<AgentEvent, unknown>>[] = [];
    let step = await events.next();
    while (!step.done && step.value.type !== "message_end") step = await events.next();
    pending.push(events.next());
    await settle();
    pending.push(events.next({ type: "abort" }));
    await Promise.all(pending);
    expect(types(await collect(events)).at(-1)).toBe("agent_end");
  });

  it("L6 leaving early aborts the run and waits for it", async () => {
    const ended = gate<boolean>();
    const slow = {
      ...tool("a"),
      execute: (
        _id: string,
        _args: object,
        signal: AbortSignal,
        onUpdate: (partial: ReturnType<typeof result>) => void,
      ) => {
        onUpdate(result("half"));
        return new Promise<ReturnType<typeof result>>((resolve) =>
          signal.addEventListener("abort", () => resolve(result("stopped")), { once: true }),
        );
      },
    };
    const { events, script } = stream([reply(call("a")), reply("never")], {
      tools: [slow],
      afterToolCall: (_, signal) => after(ended.open(signal.aborted), undefined),
    });
    for await (const event of events) if (event.type === "tool_execution_update") break;
    expect(await Promise.race([ended.promise, Promise.resolve("still running")])).toBe(true);
    expect(script.calls).toHaveLength(1);
    expect((await events.next()).done).toBe(true);
    const thrown = stream([reply("x")]);
    await thrown.events.next();
    await expect(thrown.events.throw(new Error("mine"))).rejects.toThrow("mine");
  });

  it("L6 awaiting only the result drains the stream, with and without a look before", async () => {
    const { events } = stream([reply("so", call("a")), reply("end")]);
    expect(outline(await events.result()).at(-1)).toBe("assistant:end");
    const looked = stream([reply("so", call("a")), reply("end")]);
    await looked.events.next();
    await looked.events.next();
    expect(outline(await looked.events.result()).at(-1)).toBe("assistant:end");
    const both = stream([reply("so", call("a")), reply("end")]);
    const messages = both.events.result();
    const seen = await collect(both.events);
    expect(eventFaults(seen)).toEqual([]);
    expect(outline(await messages)).toHaveLength(4);
  });

  it("L6 a throw ends the stream and never hangs it", async () => {
    const nothing = agentLoop([user("hi")], { messages: [] }, { model, convertToLlm: defaultConvertToLlm });
    await expect(collect(nothing)).rejects.toThrow(/streamFn/);
    await expect(nothing.result()).rejects.toThrow(/streamFn/);
    const empty = agentLoopContinue(
      { messages: [] },
      { model, convertToLlm: defaultConvertToLlm },
      undefined,
      createScript([]).streamFn,
    );
    await expect(empty.next()).rejects.toThrow(/empty/);
    expect((await empty.next()).done).toBe(true);
    const { events } = stream([], {
      convertToLlm: () => {
        throw new Error("broken");
      },
    });
    expect(eventFaults(await collect(events))).toEqual([]);
  });

  it("L6 the signal of the caller aborts, and continue works from the transcript", async () => {
    const controller = new AbortController();
    const hangs = () => after(void settle().then(() => controller.abort()), { ...reply("x"), fault: "hang" as const });
    const { events } = stream([hangs], {}, controller.signal);
    const seen = await collect(events);
    expect(seen.at(-1)?.type).toBe("agent_end");
    const script = createScript([reply("ok")]);
    const more = agentLoopContinue(
      { messages: [user("hi")] },
      { model, convertToLlm: defaultConvertToLlm },
      undefined,
      script.streamFn,
    );
    const end = (await collect(more)).at(-1);
    expect(end?.type === "agent_end" && end.messages.map(textOf)).toEqual(["ok"]);
  });
});
