import { createScript, failure, reply } from "@tau/llm/testing";
import { describe, expect, it } from "vitest";
import {
  after,
  assistant,
  assistants,
  call,
  eventFaults,
  gate,
  model,
  outline,
  pairingFaults,
  result,
  results,
  rig,
  textOf,
  tool,
  types,
  user,
} from "./__fixtures__/kit.ts";
import { Agent } from "./agent.ts";
import { defaultConvertToLlm } from "./convert.ts";
import type { AgentEvent } from "./events.ts";
import { runAgentLoop, runAgentLoopContinue } from "./loop.ts";
import type { AgentMessage } from "./messages.ts";

const never = () => new Promise<never>(() => undefined);
const settle = () => new Promise((resolve) => setImmediate(resolve));

describe("abort", () => {
  it("R8 an abort settles the run although tool, hook or provider ignores it", async () => {
    const started = gate();
    const wait = () => after(started.open(), never());
    const cases: [string, Parameters<typeof rig>[1], Parameters<typeof rig>[0]][] = [
      ["tool", { tools: [tool("a", wait)] }, [reply(call("a"))]],
      ["beforeToolCall", { tools: [tool("a")], beforeToolCall: wait }, [reply(call("a"))]],
      ["afterToolCall", { tools: [tool("a")], afterToolCall: wait }, [reply(call("a"))]],
      ["transformContext", { transformContext: wait }, []],
      ["convertToLlm", { convertToLlm: wait }, []],
      ["getApiKey", { getApiKey: wait }, []],
      ["getSteeringMessages", { getSteeringMessages: wait }, []],
      ["getFollowUpMessages", { getFollowUpMessages: wait }, [reply("a")]],
      ["shouldStopAfterTurn", { shouldStopAfterTurn: wait }, [reply("a")]],
      ["prepareNextTurn", { tools: [tool("a")], prepareNextTurn: wait }, [reply(call("a"))]],
      ["streamFn", { streamFn: wait }, []],
      ["stream", {}, [() => after(started.open(), { ...reply("x"), fault: "hang" as const, ignoreAbort: true })]],
    ];
    for (const [name, options, steps] of cases) {
      const { agent, events } = rig(steps, options);
      const run = agent.prompt("hi");
      await started.promise;
      await settle();
      agent.abort();
      await run;
      expect(eventFaults(events), name).toEqual([]);
      expect(agent.state.isStreaming).toBe(false);
    }
  });

  it("R8 one grace is for the whole run, and late results and updates reach no later run", async () => {
    const late = gate<ReturnType<typeof result>>();
    let update: (partial: ReturnType<typeof result>) => void = () => undefined;
    const started = gate();
    const stuck = {
      ...tool("stuck"),
      execute: (_id: string, _args: object, _signal: AbortSignal, onUpdate: typeof update) => {
        update = onUpdate;
        started.open();
        return late.promise;
      },
    };
    const { agent, events } = rig([reply(call("stuck")), reply("second run")], {
      tools: [stuck],
      afterToolCall: never,
      limits: { abortGraceMs: 60 },
    });
    const run = agent.prompt("hi");
    await started.promise;
    agent.abort();
    await run;
    const seen = events.length;
    const second = agent.prompt("again");
    update(result("late update"));
    late.open(result("late result"));
    await second;
    expect(JSON.stringify(events.slice(seen))).not.toMatch(/late (update|result)/);
    expect(results(agent.state.messages).map(textOf)).toEqual([expect.stringMatching(/in part/)]);
  });

  it("R9 after an abort there is no further request and the run ends as aborted, whatever the provider does", async () => {
    for (const fault of [undefined, "throw_midway", "end_without_done"] as const) {
      const { agent, script } = rig(
        [{ ...reply("complete", call("a")), ignoreAbort: true, chunkSize: 1, ...(fault && { fault }) }, reply("never")],
        { tools: [tool("a")] },
      );
      agent.subscribe((event) => {
        if (event.type === "message_update") agent.abort();
      });
      await agent.prompt("hi");
      expect(script.calls).toHaveLength(1);
      const replies = assistants(agent.state.messages);
      expect(replies).toEqual([expect.objectContaining({ stopReason: "aborted", errorKind: "aborted" })]);
      for (const message of results(agent.state.messages)) expect(textOf(message)).toMatch(/never started/);
    }
    const places = [
      "turn_start",
      "message_start",
      "tool_execution_start",
      "tool_execution_end",
      "message_end",
    ] as const;
    for (const place of places) {
      const { agent, script, events } = rig([reply(call("a")), reply("never")], { tools: [tool("a")] });
      agent.subscribe((event) => {
        if (event.type === place) agent.abort();
      });
      await agent.prompt("hi");
      expect(script.calls.length, place).toBeLessThanOrEqual(1);
      expect(assistants(agent.state.messages).at(-1), place).toMatchObject({ stopReason: "aborted" });
      expect(outline(agent.state.messages)[0]).toBe("user:hi");
      expect(eventFaults(events)).toEqual([]);
      expect(agent.state.errorMessage).toMatch(/abort/);
      expect(agent.snapshot().isInterrupted).toBe(true);
    }
  });

  it("R9 an abort while the listeners hear of a complete answer ends the run as aborted; what is queued stays", async () => {
    for (const place of ["message_end", "turn_end"] as const)
      for (const queue of ["followUp", "steer", "none"] as const) {
        const { agent, script, events } = rig([reply("complete"), reply("never")]);
        agent.subscribe((event) => {
          if (event.type !== place || ("message" in event && event.message.role !== "assistant")) return;
          if (!agent.state.isInterrupted && queue !== "none") agent[queue]("later");
          agent.abort();
        });
        await agent.prompt("hi");
        expect(script.calls).toHaveLength(1);
        expect(outline(agent.state.messages)).toEqual(["user:hi", "assistant:complete", "assistant:[aborted]"]);
        expect(events.at(-1)).toMatchObject({ messages: [{}, {}, { stopReason: "aborted", errorKind: "aborted" }] });
        expect([agent.state.isInterrupted, agent.state.errorMessage]).toEqual([true, expect.stringMatching(/abort/)]);
        expect(agent.hasQueuedMessages()).toBe(queue !== "none");
        expect(eventFaults(events)).toEqual([]);
      }
  });

  it("R9 a hook or a provider that fails because of the abort does not hide it", async () => {
    const fail = (agent: () => { abort(): void }) => () => {
      agent().abort();
      throw new Error("fails");
    };
    const places = ["transformContext", "convertToLlm", "streamFn", "prepareNextTurn", "shouldStopAfterTurn"] as const;
    for (const place of places) {
      const one = rig([reply(call("a")), reply("never")], { tools: [tool("a")], [place]: fail(() => one.agent) });
      await one.agent.prompt("hi");
      const stops = assistants(one.agent.state.messages).map(({ stopReason }) => stopReason);
      expect(stops.at(-1), place).toBe("aborted");
      expect(stops, place).not.toContain("error");
      expect(eventFaults(one.events), place).toEqual([]);
    }
  });

  it("R9 a hook that comes back after the abort makes no request", async () => {
    const slow = gate();
    const { agent, script } = rig([reply("never")], {
      transformContext: async (messages) => after(await slow.promise, messages),
    });
    const run = agent.prompt("hi");
    await settle();
    await settle();
    agent.abort();
    await run;
    slow.open();
    await settle();
    expect(script.calls).toHaveLength(0);
  });

  it("R001 after an abort in a batch the next request has one result for every call", async () => {
    const started = gate();
    const sleep = tool("sleep", () => after(started.open(), never()));
    const { agent, script } = rig([reply(call("quick"), call("sleep")), reply("next")], {
      tools: [tool("quick"), sleep],
    });
    const run = agent.prompt("hi");
    await started.promise;
    await settle();
    agent.abort();
    await run;
    await agent.prompt("second");
    const sent = script.calls[1]?.context.messages ?? [];
    expect(pairingFaults(sent)).toEqual([]);
    expect(sent.map(textOf)).toEqual(expect.arrayContaining(["quick", expect.stringMatching(/Aborted/)]));
  });

  it("R002 a tool that ignores the signal does not hold up the other calls' results", async () => {
    const started = gate();
    const { agent, script } = rig([reply(call("deaf"), call("quick")), reply("next")], {
      tools: [tool("deaf", () => after(started.open(), never())), tool("quick")],
    });
    const run = agent.prompt("hi");
    await started.promise;
    await settle();
    agent.abort();
    await run;
    expect(results(agent.state.messages).map(textOf)).toEqual([expect.stringMatching(/in part/), "quick"]);
    await agent.prompt("on");
    script.assertDone();
  });
});

describe("queues", () => {
  it("Q1 steering enters after the batch and before the next request, as user messages", async () => {
    const { agent, script } = rig([reply(call("a"), call("b")), reply("end")], {
      tools: [tool("a", () => after(agent.steer("turn left"), "a")), tool("b")],
    });
    await agent.prompt("hi");
    expect(outline(agent.state.messages)).toEqual([
      "user:hi",
      "assistant:call(a),call(b)",
      "toolResult:a",
      "toolResult:b",
      "user:turn left",
      "assistant:end",
    ]);
    expect(outline(script.calls[1]?.context.messages ?? []).at(-1)).toBe("user:turn left");
  });

  it("Q2 one-at-a-time takes one message a poll, all takes all", async () => {
    for (const [mode, expected] of [
      ["one-at-a-time", 4],
      ["all", 2],
    ] as const) {
      const { agent, script } = rig(() => reply("ok"), { steeringMode: mode, followUpMode: mode });
      const unsubscribe = agent.subscribe((event) => {
        if (event.type !== "message_update") return;
        unsubscribe();
        for (const text of ["s1", "s2", "s3"]) agent.steer(text);
      });
      await agent.prompt("hi");
      expect(script.calls).toHaveLength(expected);
      expect(outline(agent.state.messages).filter((line) => line.startsWith("user"))).toEqual([
        "user:hi",
        "user:s1",
        "user:s2",
        "user:s3",
      ]);
      expect([agent.steeringMode, agent.followUpMode]).toEqual([mode, mode]);
    }
    const { agent, script } = rig(() => reply("ok"));
    agent.followUpMode = "all";
    agent.followUp("f1");
    agent.followUp("f2");
    await agent.prompt("hi");
    expect(script.calls).toHaveLength(2);
  });

  it("Q3 steering comes before follow-ups, and those only when the agent would stop", async () => {
    const { agent } = rig([reply(call("a")), reply("1"), reply("2"), reply("3")], {
      tools: [
        tool("a", () => {
          agent.followUp("follow");
          agent.steer("steer 1");
          agent.steer("steer 2");
          return "a";
        }),
      ],
    });
    await agent.prompt("hi");
    expect(outline(agent.state.messages).slice(3)).toEqual([
      "user:steer 1",
      "assistant:1",
      "user:steer 2",
      "assistant:2",
      "user:follow",
      "assistant:3",
    ]);
  });

  it("Q4 a message queued while the listeners of agent_end run starts a continuation", async () => {
    const { agent, events } = rig([reply("one"), reply("two"), reply("three")]);
    let rounds = 0;
    agent.subscribe(async (event) => {
      if (event.type !== "agent_end" || ++rounds > 2) return;
      await settle();
      if (rounds === 1) agent.followUp("late follow-up");
      else agent.steer("late steering");
    });
    await agent.prompt("hi");
    expect(outline(agent.state.messages)).toEqual([
      "user:hi",
      "assistant:one",
      "user:late follow-up",
      "assistant:two",
      "user:late steering",
      "assistant:three",
    ]);
    expect(types(events).filter((type) => type === "agent_end")).toHaveLength(3);
    expect(agent.hasQueuedMessages()).toBe(false);
  });

  it("Q4 a message is never lost to an error, a failing listener or a poll that came too late", async () => {
    const error = rig([failure("down")]);
    error.agent.subscribe((event) => {
      if (event.type === "turn_start") error.agent.followUp("kept");
      throw new Error("listener");
    });
    await error.agent.prompt("hi");
    expect(error.agent.clearAllQueues().followUp.map(textOf)).toEqual(["kept"]);

    const poll = gate<AgentMessage[]>();
    const polled = gate();
    const back: unknown[] = [];
    const controller = new AbortController();
    const run = runAgentLoop(
      [user("hi")],
      { messages: [] },
      {
        model,
        convertToLlm: defaultConvertToLlm,
        limits: { abortGraceMs: 10 },
        getSteeringMessages: () => after(polled.open(), poll.promise),
        returnMessages: (messages, from) => void back.push([from, ...messages.map(textOf)]),
      },
      () => undefined,
      controller.signal,
      createScript([]).streamFn,
    );
    await polled.promise;
    controller.abort();
    await run;
    poll.open([user("too late")]);
    await settle();
    expect(back).toEqual([["steering", "too late"]]);
  });

  it("Q4 a snapshot at any event has every queued message once, and a restored one delivers it once", async () => {
    const queued = ["s1", "s2", "f1", "f2", "now"];
    const scene = async (at: number) => {
      const { agent, events } = rig([reply(call("a")), reply("one"), () => reply("more"), () => reply("more")], {
        tools: [tool("a")],
        steeringMode: "all",
        followUpMode: "all",
      });
      for (const text of ["s1", "s2"]) agent.steer(text);
      for (const text of ["f1", "f2"]) agent.followUp(text);
      let sent = false;
      let snapshot: ReturnType<Agent["snapshot"]> | undefined;
      agent.subscribe((event) => {
        if (event.type === "tool_execution_end" && !sent) {
          sent = true;
          void agent.interrupt("now");
        }
        if (sent && events.length > at) snapshot ??= agent.snapshot();
      });
      await agent.prompt("hi");
      return snapshot;
    };
    let at = 0;
    for (let snapshot = await scene(at); snapshot; snapshot = await scene(++at)) {
      const texts = ({ messages, steering, followUp }: ReturnType<Agent["snapshot"]>) =>
        [...messages, ...steering, ...followUp].map(textOf).filter((text) => queued.includes(text));
      expect(texts(snapshot).sort(), `event ${at}`).toEqual([...queued].sort());
      const other = rig(() => reply("resumed"), { tools: [tool("a")] });
      other.agent.restore(JSON.parse(JSON.stringify(snapshot)));
      expect(other.agent.snapshot()).toEqual(snapshot);
      await other.agent.prompt("on");
      expect(texts(other.agent.snapshot()).sort(), `event ${at}`).toEqual([...queued].sort());
      expect(other.agent.hasQueuedMessages(), `event ${at}`).toBe(false);
    }
    expect(at).toBeGreaterThan(25);
  });

  it("Q4 a message that was taken from a queue is not lost when a hook fails after that", async () => {
    const broken = () => Promise.reject(new Error("hook"));
    const prepare = rig([reply("one"), reply("two")], { prepareNextTurn: broken });
    prepare.agent.followUp("kept");
    await prepare.agent.prompt("hi");
    expect(assistants(prepare.agent.state.messages).at(-1)).toMatchObject({
      stopReason: "error",
      errorMessage: "hook",
    });
    expect(prepare.agent.snapshot().followUp.map(textOf)).toEqual(["kept"]);
    expect(eventFaults(prepare.events)).toEqual([]);

    for (const hook of [broken, () => [null] as never, () => [{}] as never])
      for (const name of ["getSteeringMessages", "getFollowUpMessages"] as const) {
        const poll = rig([reply("one")], { [name]: hook });
        poll.agent.steer("s");
        poll.agent.followUp("f");
        await poll.agent.prompt("hi");
        const { messages, steering, followUp } = poll.agent.snapshot();
        const users = [...messages, ...steering, ...followUp].filter(({ role }) => role === "user").map(textOf);
        expect(users.sort()).toEqual(["f", "hi", "s"]);
        expect(assistants(poll.agent.state.messages).at(-1)).toMatchObject({ stopReason: "error" });
        expect(eventFaults(poll.events)).toEqual([]);
      }
  });

  it("Q4 without a way back messages over a limit or behind a failing hook enter the transcript", async () => {
    for (const more of [{ limits: { maxTurns: 1 } }, { prepareNextTurn: () => Promise.reject(new Error("hook")) }]) {
      const events: AgentEvent[] = [];
      let polls = 0;
      const added = await runAgentLoop(
        [user("hi")],
        { messages: [] },
        {
          model,
          convertToLlm: defaultConvertToLlm,
          getFollowUpMessages: () => (polls++ === 0 ? [user("f1"), user("f2")] : []),
          ...more,
        },
        (event) => void events.push(event),
        undefined,
        createScript([reply("one")]).streamFn,
      );
      expect(outline(added).filter((line) => line.startsWith("user"))).toEqual(["user:hi", "user:f1", "user:f2"]);
      expect(eventFaults(events)).toEqual([]);
    }
  });

  it("Q4 T4 an owner who cannot take messages back does not keep the run from its end", async () => {
    const events: AgentEvent[] = [];
    const added = await runAgentLoop(
      [user("hi")],
      { messages: [] },
      {
        model,
        convertToLlm: defaultConvertToLlm,
        limits: { maxTurns: 1 },
        getFollowUpMessages: () => [user("f")],
        returnMessages: () => {
          throw new Error("no room");
        },
      },
      (event) => void events.push(event),
      undefined,
      createScript([reply("one")]).streamFn,
    );
    expect(outline(added)[1]).toBe("assistant:one");
    expect(eventFaults(events)).toEqual([]);
  });

  it("Q4 without a way back a polled message enters the transcript", async () => {
    const controller = new AbortController();
    let polls = 0;
    const added = await runAgentLoop(
      [user("hi")],
      { messages: [] },
      {
        model,
        convertToLlm: defaultConvertToLlm,
        getSteeringMessages: () => (polls++ === 0 ? [user("a"), user("b")] : []),
      },
      (event) => {
        if (event.type === "message_end" && textOf(event.message) === "a") controller.abort();
      },
      controller.signal,
      createScript([]).streamFn,
    );
    expect(outline(added).slice(0, 3)).toEqual(["user:hi", "user:a", "user:b"]);
  });

  it("Q5 after an abort queued messages stay queued, in order", async () => {
    const started = gate();
    const { agent, script } = rig([reply(call("a")), reply("never")], {
      tools: [tool("a", () => after(started.open(), never()))],
    });
    const run = agent.prompt("hi");
    await started.promise;
    agent.steer("s1");
    agent.steer("s2");
    agent.followUp("f");
    agent.abort();
    await run;
    expect(script.calls).toHaveLength(1);
    expect(agent.clearAllQueues()).toMatchObject({
      steering: [{ content: "s1" }, { content: "s2" }],
      followUp: [{ content: "f" }],
    });
  });

  it("Q5 messages that were taken for a turn which an abort overtook go back, in order", async () => {
    const { agent, script } = rig([reply("one")], { followUpMode: "all" });
    agent.followUp("f1");
    agent.followUp("f2");
    let turns = 0;
    agent.subscribe((event) => {
      if (event.type === "turn_start" && ++turns === 2) agent.abort();
    });
    await agent.prompt("hi");
    expect(script.calls).toHaveLength(1);
    expect(agent.clearAllQueues().followUp.map(textOf)).toEqual(["f1", "f2"]);
  });

  it("R003 a steering message that was taken when the run was aborted is delivered once, in order, by the next run", async () => {
    for (const steeringMode of ["one-at-a-time", "all"] as const) {
      const { agent, events } = rig([reply(call("a"), call("a"), call("a")), reply("ok"), reply("ok")], {
        steeringMode,
        toolExecution: "sequential",
        tools: [
          tool("a", () => {
            if (!agent.hasQueuedMessages()) for (const text of ["s1", "s2"]) agent.steer(text);
            return "a";
          }),
        ],
      });
      let aborted = false;
      agent.subscribe((event) => {
        // The first one is in, a second one may be taken already.
        const now = event.type === "message_end" && textOf(event.message) === "s1";
        if (now && !aborted) agent.abort();
        aborted ||= now;
      });
      await agent.prompt("hi");
      expect(agent.snapshot().steering.map(textOf)).toEqual(["s2"]);
      await agent.continue();
      const users = agent.state.messages.filter(({ role }) => role === "user").map(textOf);
      expect(users).toEqual(["hi", "s1", "s2"]);
      expect(eventFaults(events.slice(types(events).lastIndexOf("agent_start")))).toEqual([]);
    }
    const { agent } = rig([reply(call("a")), reply("ok"), reply("ok")], {
      tools: [tool("a", () => after(agent.steer("s"), "a"))],
    });
    const unsubscribe = agent.subscribe((event) => {
      if (event.type !== "turn_end") return;
      unsubscribe();
      agent.abort();
    });
    await agent.prompt("hi");
    expect(agent.snapshot().steering.map(textOf)).toEqual(["s"]);
    await agent.prompt("next");
    expect(agent.state.messages.filter((message) => textOf(message) === "s")).toHaveLength(1);
  });

  it("R004 a message queued between the stop and the end of the run is kept", async () => {
    const started = gate();
    const { agent } = rig([reply(call("a")), reply("later")], {
      tools: [tool("a", () => after(started.open(), never()))],
    });
    const run = agent.prompt("hi");
    await started.promise;
    agent.abort();
    agent.followUp("after the stop");
    await run;
    expect(agent.hasQueuedMessages()).toBe(true);
    await agent.continue();
    expect(outline(agent.state.messages).slice(-2)).toEqual(["user:after the stop", "assistant:later"]);
  });
});

describe("listeners", () => {
  it("L1 listeners are awaited in subscription order, after the state changed", async () => {
    const { agent } = rig([reply("hello")]);
    const log: string[] = [];
    agent.subscribe(async (event) => {
      if (event.type !== "message_end") return;
      expect(agent.state.messages.at(-1)).toBe(event.message);
      log.push(`1 ${event.message.role}`);
      await settle();
      log.push(`1 done`);
    });
    agent.subscribe((event) => void (event.type === "message_end" && log.push(`2 ${event.message.role}`)));
    await agent.prompt("hi");
    expect(log).toEqual(["1 user", "1 done", "2 user", "1 assistant", "1 done", "2 assistant"]);
  });

  it("L1 events of calls that run side by side are delivered one at a time", async () => {
    const { agent } = rig([reply(...Array.from({ length: 6 }, () => call("a"))), reply("end")], { tools: [tool("a")] });
    let open = 0;
    agent.subscribe(async () => {
      expect(++open).toBe(1);
      await settle();
      open--;
    });
    await agent.prompt("hi");
  });

  it("L2 isStreaming stays true until the listeners of agent_end are done", async () => {
    const { agent } = rig([reply("hello")]);
    const ends: boolean[] = [];
    agent.subscribe(async (event) => {
      if (event.type !== "agent_end") return;
      await settle();
      ends.push(agent.state.isStreaming);
    });
    const run = agent.prompt("hi");
    await agent.waitForIdle();
    expect(ends).toEqual([true]);
    expect(agent.state.isStreaming).toBe(false);
    await run;
  });

  it("L1 a listener may give back anything that is not a promise: that is not an error", async () => {
    const { agent, events } = rig([reply("a")]);
    const seen: string[] = [];
    const given: (() => unknown)[] = [() => seen.push("x"), () => ({ catch: 1 }), () => null, () => "text"];
    for (const listener of given) agent.subscribe(listener as () => void);
    await agent.prompt("hi");
    expect(types(events)).not.toContain("listener_error");
    expect(seen).toHaveLength(events.length);
  });

  it("L3 a listener that throws is reported, stays subscribed and disturbs nobody", async () => {
    for (const fails of [
      () => {
        throw new Error("oops");
      },
      () => Promise.reject(new Error("oops")),
      () => {
        throw "oops";
      },
    ]) {
      const { agent, events, script } = rig([reply(call("a")), reply("end")], { tools: [tool("a")] });
      let called = 0;
      agent.subscribe(() => after(called++, fails()));
      const later: string[] = [];
      agent.subscribe((event) => void later.push(event.type));
      await agent.prompt("hi");
      expect(later).toEqual(types(events));
      const plain = events.filter(({ type }) => type !== "listener_error");
      expect(events.length - plain.length).toBe(plain.length);
      expect(called).toBe(events.length);
      expect(events[1]).toEqual({ type: "listener_error", event: "agent_start", error: "oops" });
      expect(eventFaults(events)).toEqual([]);
      script.assertDone();
    }
    const loop = createScript([reply("end")]);
    const added = await runAgentLoop(
      [user("hi")],
      { messages: [] },
      { model, convertToLlm: defaultConvertToLlm },
      () => Promise.reject(new Error("x")),
      undefined,
      loop.streamFn,
    );
    expect(outline(added)).toEqual(["user:hi", "assistant:end"]);
  });

  it("L4 waitForIdle in a listener rejects, at once or after its own wait", async () => {
    const { agent } = rig([reply("hello"), reply("x")]);
    const outcomes: string[] = [];
    agent.subscribe(async (event) => {
      if (event.type === "agent_start") await agent.waitForIdle().catch((error) => outcomes.push(error.message));
      if (event.type !== "turn_end") return;
      await settle();
      await agent.waitForIdle().catch((error) => outcomes.push(error.message));
    });
    const run = agent.prompt("hi");
    await run;
    expect(outcomes).toEqual([expect.stringMatching(/listener/), expect.stringMatching(/listener/)]);
    await agent.waitForIdle();
  });

  it("L4 waitForIdle in a listener rejects however deep it is awaited there", async () => {
    const { agent } = rig([reply("hello")]);
    const deep = async (level: number): Promise<void> => {
      await settle();
      return level > 0 ? deep(level - 1) : agent.waitForIdle();
    };
    const ways: (() => Promise<unknown>)[] = [
      () => settle().then(() => agent.waitForIdle()),
      () => Promise.all([settle(), deep(1)]),
      () => deep(30),
      () => Promise.resolve().finally(() => agent.waitForIdle()),
    ];
    agent.subscribe((event) =>
      event.type === "listener_error"
        ? undefined
        : ways
            .pop()?.()
            .then(() => undefined),
    );
    const errors: string[] = [];
    agent.subscribe((event) => void (event.type === "listener_error" && errors.push(event.error)));
    await agent.prompt("hi");
    expect(errors).toHaveLength(4);
    for (const error of errors) expect(error).toMatch(/listener/);
  });

  it("L4 waitForIdle from outside waits for a run and its listeners, also after an abort", async () => {
    for (const aborts of [false, true]) {
      const { agent } = rig([reply("hello")], { limits: { abortGraceMs: 60_000 } });
      const inside = gate();
      const held = gate();
      agent.subscribe((event) => {
        if (event.type !== "turn_start") return;
        inside.open();
        return held.promise;
      });
      const run = agent.prompt("hi");
      await inside.promise;
      if (aborts) agent.abort();
      let idle = false;
      const waiting = agent.waitForIdle().then(() => {
        idle = true;
      });
      for (let turn = 0; turn < 5; turn++) await settle();
      expect([idle, agent.state.isStreaming]).toEqual([false, true]);
      held.open();
      await waiting;
      expect(agent.state.isStreaming).toBe(false);
      await run;
    }
  });

  it("L4 who waits for idle before a listener is called, or starts no run, is not taken for one", async () => {
    const { agent } = rig([reply("hello")], { limits: { abortGraceMs: 1 } });
    await agent.waitForIdle();
    const held = gate();
    agent.subscribe((event) => (event.type === "turn_start" ? held.promise : undefined));
    const run = agent.prompt("hi");
    const waiting = agent.waitForIdle();
    await new Promise((resolve) => setTimeout(resolve, 1));
    await settle();
    held.open();
    await waiting;
    expect(agent.state.isStreaming).toBe(false);
    await run;
  });

  it("L4 a listener that the run has waited for longer than the grace is taken for the one who waits for idle", async () => {
    const { agent } = rig([reply("hello")], { limits: { abortGraceMs: 1 } });
    const inside = gate();
    const held = gate();
    agent.subscribe((event) => (event.type === "turn_start" ? after(inside.open(), held.promise) : undefined));
    const run = agent.prompt("hi");
    await inside.promise;
    await expect(agent.waitForIdle()).rejects.toThrow(/await what prompt\(\) gave/);
    held.open();
    await run;
    await agent.waitForIdle();
  });

  it("L4 a listener of one agent may wait for another one, and what it started itself may wait for its own", async () => {
    const other = rig([reply("there")]);
    const { agent, events } = rig([reply("hello")]);
    const detached: Promise<void>[] = [];
    agent.subscribe(async (event) => {
      if (event.type !== "turn_start") return;
      await settle();
      void other.agent.prompt("you");
      await other.agent.waitForIdle();
      detached.push(settle().then(() => agent.waitForIdle()));
      await settle();
      await settle();
    });
    await agent.prompt("hi");
    await Promise.all(detached);
    expect(types(events)).not.toContain("listener_error");
    expect(outline(other.agent.state.messages).at(-1)).toBe("assistant:there");
  });

  it("R10 interrupts that come with the last event of a run are delivered in order, each once", async () => {
    const { agent, events } = rig(() => reply("ok"));
    let sent = false;
    agent.subscribe((event) => {
      if (event.type !== "agent_end" || sent) return;
      sent = true;
      for (const text of ["i1", "i2"]) void agent.interrupt(text);
    });
    await agent.prompt("hi");
    const users = agent.state.messages.filter(({ role }) => role === "user").map(textOf);
    expect(users).toEqual(["hi", "i1", "i2"]);
    const second = types(events).lastIndexOf("agent_start");
    expect(eventFaults(events.slice(second))).toEqual([]);
    expect(agent.hasQueuedMessages()).toBe(false);
  });

  it("R10 an interrupt inside a listener is not waited for by itself", async () => {
    const { agent, events } = rig([reply("never whole"), reply("new")]);
    let sent = false;
    agent.subscribe(async (event) => {
      if (event.type !== "message_update" || sent) return;
      sent = true;
      await settle();
      await agent.interrupt("do this");
    });
    await agent.prompt("hi");
    expect(outline(agent.state.messages).slice(-2)).toEqual(["user:do this", "assistant:new"]);
    expect(eventFaults(events)).toEqual([]);
  });

  it("R10 an interrupt from outside resolves when the run is over, whatever listeners were waited for before", async () => {
    const started = gate();
    const { agent } = rig([reply(call("a")), reply("new")], {
      tools: [tool("a", () => after(started.open(), never()))],
    });
    agent.subscribe(async () => void (await settle()));
    const run = agent.prompt("hi");
    await started.promise;
    for (let turn = 0; turn < 10; turn++) await settle();
    const id = await agent.interrupt("do this");
    expect([typeof id, agent.state.isStreaming]).toEqual(["string", false]);
    expect(outline(agent.state.messages).at(-1)).toBe("assistant:new");
    await run;
  });

  it("L4 subscribing and unsubscribing in a listener hold from the next event", async () => {
    const { agent } = rig([reply("hello")]);
    const seen: string[] = [];
    const second = (event: { type: string }) => void seen.push(event.type);
    agent.subscribe((event) => {
      if (event.type === "agent_start") agent.subscribe(second);
      if (event.type === "turn_start") off();
    });
    const off = agent.subscribe((event) => void seen.push(`b ${event.type}`));
    await agent.prompt("hi");
    expect(seen.slice(0, 4)).toEqual(["b agent_start", "b turn_start", "turn_start", "message_start"]);
    expect(seen.filter((line) => line.startsWith("b "))).toHaveLength(2);
  });
});

describe("state", () => {
  const fresh = () => [tool("stuck", never), tool("a")];

  it("R7 a snapshot is plain JSON and restores, also in the middle of a batch", async () => {
    const started = gate();
    const tools = [tool("stuck", () => after(started.open(), never())), tool("a")];
    const usage = { input: 5, output: 3, cost: { total: 0.5 } };
    const { agent } = rig(
      [
        { ...reply(call("a")), usage },
        { ...reply("so", call("stuck", {}, "c1"), call("stuck", {}, "c2"), call("a", {}, "c3")), usage },
      ],
      { tools, limits: { abortGraceMs: 5, maxParallelCalls: 1 } },
    );
    const run = agent.prompt("hi");
    await started.promise;
    agent.steer("steer");
    agent.followUp("follow");
    const snapshot = agent.snapshot();
    const copy = JSON.parse(JSON.stringify(snapshot));
    expect(copy).toEqual(snapshot);
    expect(snapshot).toMatchObject({
      ...{
        phase: "executing_tool",
        turnCount: 1,
        totalTokens: 8,
        totalCost: 0.5,
        isInterrupted: false,
        isStreaming: true,
      },
      ...{ pendingToolCalls: ["c1"], steering: [{ content: "steer" }], followUp: [{ content: "follow" }] },
    });
    expect(snapshot.lastToolResults.map(textOf)).toEqual(["a"]);
    agent.abort();
    await run;

    const script = createScript([reply("ok"), reply("ok"), reply("ok")]);
    const other = new Agent({ initialState: { model, tools: fresh() }, streamFn: script.streamFn });
    other.restore(copy);
    expect(other.snapshot()).toEqual(snapshot);
    expect(other.state.isStreaming).toBe(false);
    await other.continue();
    expect(results(other.state.messages).slice(1).map(textOf)).toEqual([
      expect.stringMatching(/in part/),
      ...[expect.stringMatching(/never started/), expect.stringMatching(/never started/)],
    ]);
    expect(outline(other.state.messages).slice(-4)).toEqual([
      "user:steer",
      "assistant:ok",
      "user:follow",
      "assistant:ok",
    ]);
    for (const { context } of script.calls) expect(pairingFaults(context.messages)).toEqual([]);
    expect(other.snapshot()).toMatchObject({ phase: "idle", isStreaming: false, pendingToolCalls: [] });
  });

  it("R7 a snapshot is not changed by what happens later, and idle ones restore too", async () => {
    const { agent } = rig([failure("bad"), reply("ok")], {
      initialState: { model, systemPrompt: "p", thinkingLevel: "low" },
    });
    await agent.prompt("hi");
    const snapshot = agent.snapshot();
    const text = JSON.stringify(snapshot);
    await agent.prompt("more");
    expect(JSON.stringify(snapshot)).toBe(text);
    agent.restore(snapshot);
    expect(agent.snapshot()).toEqual(snapshot);
    expect(agent.state.errorMessage).toBe("bad");
  });

  it("R7 a tool that is gone is kept in the snapshot and says so when it is called", async () => {
    const { agent } = rig([], { tools: [tool("gone")] });
    const script = createScript([reply(call("gone")), reply("end")]);
    const other = new Agent({ initialState: { model }, streamFn: script.streamFn });
    other.restore(agent.snapshot());
    expect(other.snapshot()).toEqual(agent.snapshot());
    await other.prompt("hi");
    expect(textOf(results(other.state.messages)[0])).toMatch(/not available/);
  });

  it("R7 reset forgets the conversation; neither reset nor restore works during a run", async () => {
    const { agent } = rig([reply("1"), reply("2")], { initialState: { model, systemPrompt: "p" } });
    const snapshot = agent.snapshot();
    const run = agent.prompt("hi");
    expect(() => agent.reset()).toThrow(/running/);
    expect(() => agent.restore(snapshot)).toThrow(/running/);
    await run;
    agent.followUp("x");
    agent.reset();
    expect(agent.snapshot()).toEqual(snapshot);
    await agent.prompt("new");
    expect(outline(agent.state.messages)).toEqual(["user:new", "assistant:2"]);
  });

  it("O4 a run leaves nothing behind on the signal or in timers", async () => {
    const listeners = new Set<unknown>();
    const signal = {
      aborted: false,
      reason: undefined,
      addEventListener: (_type: string, listener: unknown) => void listeners.add(listener),
      removeEventListener: (_type: string, listener: unknown) => void listeners.delete(listener),
    };
    const script = createScript([reply("x")]);
    const streamFn: typeof script.streamFn = (askedModel, context, options) => {
      const { signal: _signal, ...rest } = options;
      return script.streamFn(askedModel, context, rest);
    };
    await runAgentLoop(
      [user("hi")],
      { messages: [] },
      { model, convertToLlm: defaultConvertToLlm },
      () => undefined,
      signal as never,
      streamFn,
    );
    expect(listeners.size).toBe(0);

    const config = { model, convertToLlm: defaultConvertToLlm };
    const broken = { ...config, getFollowUpMessages: () => Promise.reject(new Error("hook")) };
    const given = [() => undefined, signal as never, streamFn] as const;
    const answered = { messages: [user("hi"), assistant([{ type: "text", text: "done" }])] };
    await expect(runAgentLoopContinue(answered, broken, ...given)).rejects.toThrow("hook");
    await expect(runAgentLoopContinue(answered, config, ...given)).rejects.toThrow(/nothing to continue/);
    await expect(runAgentLoop([null as never], { messages: [] }, config, ...given)).rejects.toThrow(TypeError);
    expect(listeners.size).toBe(0);
  });
});
