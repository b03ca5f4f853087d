import type { Context } from "@tau/llm";
import { createScript, failure, reply, thinking } from "@tau/llm/testing";
import { describe, expect, it } from "vitest";
import {
  after,
  assistant,
  assistants,
  call,
  countWork,
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
import { runAgentLoop, runAgentLoopContinue, setDefaultStreamFn } from "./loop.ts";
import type { AgentMessage } from "./messages.ts";

const config = { model, convertToLlm: defaultConvertToLlm };
const ignore = () => undefined;
const calculate = tool("calculate", () => "4", {
  parameters: { type: "object", properties: { expression: { type: "string" } }, required: ["expression"] },
});
const ask = call("calculate", { expression: "2+2" });

describe("boundaries", () => {
  it("B2 the wide messages reach the provider as user messages, excluded ones do not", async () => {
    const messages: AgentMessage[] = [
      { role: "compactionSummary", summary: "long ago", tokensBefore: 9, timestamp: 1 },
      { role: "branchSummary", summary: "elsewhere", fromId: null, timestamp: 1 },
      {
        role: "bashExecution",
        command: "ls",
        output: "a",
        exitCode: 3,
        cancelled: false,
        truncated: false,
        timestamp: 1,
      },
      {
        role: "bashExecution",
        command: "x",
        output: "SECRET",
        cancelled: false,
        truncated: false,
        excludeFromContext: true,
        timestamp: 1,
      },
      { role: "custom", customType: "note", content: "noted", display: true, details: "HIDDEN", timestamp: 1 },
      { role: "future" } as unknown as AgentMessage,
    ];
    const { agent, script } = rig([reply("ok")], { initialState: { model, messages } });
    await agent.prompt("hi");
    const sent = script.calls[0]?.context.messages ?? [];
    expect(sent.map(({ role }) => role)).toEqual(["user", "user", "user", "user", "user"]);
    const text = sent.map(textOf).join("\n");
    for (const part of ["long ago", "elsewhere", "ls", "exit code 3", "noted"]) expect(text).toContain(part);
    expect(text).not.toMatch(/SECRET|HIDDEN/);
  });

  it("B3 a request goes through transformContext, convertToLlm, repair, streamFn", async () => {
    const order: string[] = [];
    const { agent, script } = rig([reply("ok")], {
      transformContext: (messages, signal) => {
        order.push(`transform ${signal.aborted}`);
        return [
          ...messages,
          user("added"),
          {
            ...assistant([call("lost", {}, "c1")]),
            content: [{ type: "toolCall", id: "c1", name: "lost", arguments: {} }],
          },
        ];
      },
      convertToLlm: (messages) => {
        order.push(`convert ${messages.length}`);
        return defaultConvertToLlm(messages);
      },
    });
    await agent.prompt("hi");
    expect(order).toEqual(["transform false", "convert 3"]);
    expect(script.calls[0]?.context.messages.map(({ role }) => role)).toEqual([
      "user",
      "user",
      "assistant",
      "toolResult",
    ]);
  });

  it("B4 without a streamFn a run rejects with the remedy, and a default can be installed", async () => {
    const agent = new Agent({ initialState: { model } });
    await expect(agent.prompt("hi")).rejects.toThrow(/streamFn.*setDefaultStreamFn/);
    expect(agent.state.isStreaming).toBe(false);
    const script = createScript([reply("from the default")]);
    setDefaultStreamFn(script.streamFn);
    try {
      await agent.prompt("hi");
      expect(textOf(agent.state.messages.at(-1))).toBe("from the default");
    } finally {
      setDefaultStreamFn(undefined);
    }
  });

  it("B6 transformContext may destroy its input without touching state or transcript", async () => {
    const { agent, script } = rig([reply(ask), reply("done")], {
      tools: [calculate],
      transformContext: (messages) => {
        const sent = structuredClone(messages);
        for (const message of messages) Object.assign(message, { role: "user", content: "ruined" });
        for (const message of messages) if (Array.isArray(message)) message.length = 0;
        messages.length = 0;
        return sent;
      },
    });
    await agent.prompt("hi");
    expect(outline(agent.state.messages)).toEqual([
      "user:hi",
      "assistant:call(calculate)",
      "toolResult:4",
      "assistant:done",
    ]);
    expect(outline(script.calls[1]?.context.messages ?? [])).toHaveLength(3);
  });

  it("B7 the requested thinking level is stamped on the reply", async () => {
    const { agent, script } = rig([reply("ok"), failure("no")], { initialState: { model, thinkingLevel: "high" } });
    await agent.prompt("hi");
    agent.state.thinkingLevel = "low";
    await agent.prompt("again");
    expect(assistants(agent.state.messages).map(({ thinkingLevel }) => thinkingLevel)).toEqual(["high", "low"]);
    expect(script.calls.map(({ options }) => options.thinkingLevel)).toEqual(["high", "low"]);
  });

  it("B8 a change of prompt and tools is one appended system message, and the head stays", async () => {
    const { agent, script, events } = rig([reply("1"), reply("2"), reply("3")], {
      initialState: { model, systemPrompt: "You are A.", tools: [tool("a"), tool("b")] },
    });
    await agent.prompt("one");
    expect(events.filter((event) => event.type === "message_end" && event.message.role === "system")).toEqual([]);
    agent.state.systemPrompt = "You are B.";
    agent.state.tools = [tool("b"), tool("c")];
    await agent.prompt("two");
    await agent.prompt("three");
    const systems = agent.state.messages.filter(({ role }) => role === "system");
    expect(systems).toHaveLength(1);
    expect(systems[0]).toMatchObject({
      sections: { prompt: "You are B." },
      toolsAdded: [{ name: "c" }],
      toolsRemoved: [{ name: "a" }],
    });
    expect(Object.keys((systems[0] as { toolsAdded: object[] }).toolsAdded[0] ?? {})).not.toContain("execute");
    const [first, second, third] = script.calls.map(({ context }) => context);
    expect(second?.systemPrompt).toBe(first?.systemPrompt);
    expect(second?.tools).toEqual(first?.tools);
    expect(outline(second?.messages ?? [])).toEqual(["user:one", "assistant:1", "system:", "user:two"]);
    expect(third?.messages.slice(0, 4)).toEqual(second?.messages);
  });

  it("B8 a convertToLlm that drops system messages does not hide the change from the model", async () => {
    const { agent, script } = rig([reply("1"), reply("2")], {
      initialState: { model, systemPrompt: "old", tools: [tool("a")] },
      convertToLlm: (messages) => defaultConvertToLlm(messages).filter(({ role }) => role !== "system"),
    });
    await agent.prompt("one");
    agent.state.systemPrompt = "new";
    agent.state.tools = [tool("b")];
    await agent.prompt("two");
    expect(script.calls[1]?.context).toMatchObject({ systemPrompt: "new", tools: [{ name: "b" }] });
  });

  it("B8 a transcript that begins with a system message is its own head", async () => {
    const head: AgentMessage = {
      role: "system",
      content: "",
      sections: { preamble: "P", tools: "T" },
      toolsAdded: [{ name: "a", description: "The tool a", parameters: { type: "object", properties: {} } }],
      timestamp: 1,
    };
    const { agent, script } = rig([reply("1"), reply("2")], {
      initialState: { model, messages: [head], tools: [tool("a")] },
    });
    await agent.prompt("one");
    expect(outline(agent.state.messages)).toEqual(["system:", "user:one", "assistant:1"]);
    expect(script.calls[0]?.context.messages[0]).toMatchObject({ role: "system" });
    expect(script.calls[0]?.context.systemPrompt).toBeUndefined();
    agent.state.systemPrompt = "P\n\nT";
    await agent.prompt("two");
    expect(agent.state.messages.filter(({ role }) => role === "system")).toHaveLength(1);
  });

  it("B9 a run works with what held at its start; prepareNextTurn changes it between turns", async () => {
    let prepared = 0;
    const late = tool("late");
    const { agent, script } = rig([reply(call("swap")), reply(call("late")), reply("end"), reply("next run")], {
      tools: [],
      prepareNextTurn: ({ context, message, toolResults }) => {
        prepared++;
        expect(message.role).toBe("assistant");
        if (prepared > 1) return undefined;
        expect(toolResults).toHaveLength(1);
        return { context: { ...context, tools: [...(context.tools ?? []), late] }, thinkingLevel: "high" };
      },
    });
    const swap = tool("swap", () => {
      agent.state.tools = [tool("other")];
      agent.state.systemPrompt = "other";
      agent.state.messages = [];
      return "swapped";
    });
    agent.state.tools = [swap];
    await agent.prompt("go");
    expect(script.calls.map(({ options }) => options.thinkingLevel)).toEqual(["off", "high", "high"]);
    expect(outline(script.calls[1]?.context.messages ?? [])).toEqual([
      "user:go",
      "assistant:call(swap)",
      "toolResult:swapped",
      "system:",
    ]);
    expect(textOf(results(script.calls[2]?.context.messages as AgentMessage[]).at(-1))).toBe("late");
    expect(prepared).toBe(2);
    expect(agent.state.tools.map(({ name }) => name)).toEqual(["swap", "late"]);
  });

  it("B10 stream options reach the provider, a plain string is the prompt", async () => {
    const onWarning = () => undefined;
    const { agent, script } = rig([reply("ok")], {
      initialState: { model, systemPrompt: "plain" },
      temperature: 0.5,
      maxTokens: 77,
      sessionId: "s1",
      headers: { x: "y" },
      onWarning,
      getApiKey: async () => "fresh",
    });
    await agent.prompt("hi");
    const { signal, ...options } = script.calls[0]?.options ?? {};
    expect(signal).toBeDefined();
    expect(options).toEqual({
      temperature: 0.5,
      maxTokens: 77,
      sessionId: "s1",
      headers: { x: "y" },
      onWarning,
      apiKey: "fresh",
      thinkingLevel: "off",
    });
    expect(script.calls[0]?.context.systemPrompt).toBe("plain");
  });
});

describe("turns", () => {
  it("D1 a tool round trip has the order of the demo", async () => {
    const { agent, events } = rig([reply(ask), reply("It is 4.")], {
      tools: [calculate],
      initialState: { model, systemPrompt: "p" },
    });
    await agent.prompt("2+2?");
    const filtered = events.flatMap((event) => {
      if (event.type === "message_end") return [`message_end ${event.message.role}`];
      return /^(agent|turn_start|tool)/.test(event.type) ? [event.type] : [];
    });
    expect(filtered).toEqual([
      ...["agent_start", "turn_start", "message_end user", "message_end assistant", "tool_execution_start"],
      ...["tool_execution_end", "message_end toolResult", "turn_start", "message_end assistant", "agent_end"],
    ]);
  });

  it("T1 turn_end has the reply and all its results, and none for an answer without calls", async () => {
    const { agent, events } = rig([reply(ask, ask), reply("done")], { tools: [calculate] });
    await agent.prompt("hi");
    const ends = events.flatMap((event) => (event.type === "turn_end" ? [event] : []));
    expect(ends.map(({ toolResults }) => toolResults.length)).toEqual([2, 0]);
    expect(ends.map(({ message }) => message)).toEqual(assistants(agent.state.messages));
  });

  it("T2 events of a turn come in order, in a sequential batch each end is followed by its result", async () => {
    const steps = [reply("so", call("a"), call("b")), reply("end")];
    const sequential = rig(steps, { tools: [tool("a"), tool("b")], toolExecution: "sequential" });
    await sequential.agent.prompt("hi");
    const parallel = rig(steps, { tools: [tool("a"), tool("b")] });
    await parallel.agent.prompt("hi");
    const batch = (events: AgentEvent[]) =>
      types(events).slice(types(events).indexOf("tool_execution_start"), types(events).indexOf("turn_end"));
    const one = ["tool_execution_start", "tool_execution_end", "message_start", "message_end"];
    expect(batch(sequential.events)).toEqual([...one, ...one]);
    expect(batch(parallel.events)).toEqual([
      ...["tool_execution_start", "tool_execution_start", "tool_execution_end", "tool_execution_end"],
      ...["message_start", "message_end", "message_start", "message_end"],
    ]);
    expect(eventFaults(sequential.events)).toEqual([]);
    expect(types(sequential.events).slice(0, 5)).toEqual([
      "agent_start",
      "turn_start",
      "message_start",
      "message_end",
      "message_start",
    ]);
  });

  it("T3 a round trip is two turn_start and exactly two requests", async () => {
    const { agent, script, events } = rig([reply(ask), reply("done")], { tools: [calculate] });
    await agent.prompt("hi");
    expect(types(events).filter((type) => type === "turn_start")).toHaveLength(2);
    expect(script.calls).toHaveLength(2);
  });

  it("T4 every run has one start and one end with all its messages, whatever fails", async () => {
    const boom = () => {
      throw new Error("boom");
    };
    const broken = [
      { transformContext: boom },
      { convertToLlm: boom },
      { getSteeringMessages: boom },
      { getFollowUpMessages: boom },
      { shouldStopAfterTurn: boom },
      { prepareNextTurn: boom },
      { getApiKey: boom },
      { getApiKey: () => Promise.reject("no text") },
      { streamFn: boom },
      { beforeToolCall: boom },
      { afterToolCall: boom },
    ];
    for (const hooks of broken) {
      const { agent, events } = rig([reply(ask), reply("done")], { tools: [calculate], ...hooks });
      await agent.prompt("hi");
      expect(eventFaults(events), Object.keys(hooks)[0]).toEqual([]);
      const end = events.at(-1);
      expect(end?.type === "agent_end" && end.messages).toEqual(agent.state.messages);
      expect(agent.state.isStreaming).toBe(false);
      const last = agent.state.messages.at(-1);
      if (!("beforeToolCall" in hooks || "afterToolCall" in hooks)) expect(last).toMatchObject({ stopReason: "error" });
    }
  });

  it("T5 follow-ups are taken when the agent would stop, in the same run", async () => {
    const { agent, events } = rig([reply(ask), reply("first"), reply("second")], { tools: [calculate] });
    const unsubscribe = agent.subscribe((event) => {
      if (event.type !== "tool_execution_start") return;
      agent.followUp("and then?");
      unsubscribe();
    });
    await agent.prompt("hi");
    expect(outline(agent.state.messages).slice(-3)).toEqual(["assistant:first", "user:and then?", "assistant:second"]);
    expect(types(events).filter((type) => type === "agent_start")).toHaveLength(1);
  });

  it("T6 shouldStopAfterTurn is asked after turn_end and before the queues", async () => {
    const { agent, script, events } = rig([reply(ask), reply("never")], {
      tools: [calculate],
      shouldStopAfterTurn: ({ toolResults, context }) => {
        expect(types(events).at(-1)).toBe("turn_end");
        expect(context.messages).toHaveLength(3);
        return toolResults.length > 0;
      },
    });
    agent.followUp("waits");
    await agent.prompt("hi");
    expect(script.calls).toHaveLength(1);
    expect(agent.hasQueuedMessages()).toBe(true);
  });

  it("T6 a batch whose every result asks terminate ends the run, unless a queue has something", async () => {
    const done = tool("done", () => result("bye", { terminate: true }));
    const all = rig([reply(call("done"), call("done")), reply("never")], { tools: [done] });
    await all.agent.prompt("hi");
    expect(all.script.calls).toHaveLength(1);
    const some = rig([reply(call("done"), ask), reply("continues")], { tools: [done, calculate] });
    await some.agent.prompt("hi");
    expect(some.script.calls).toHaveLength(2);
    const queued = rig([reply(call("done")), reply("heard")], { tools: [done] });
    queued.agent.followUp("wait");
    await queued.agent.prompt("hi");
    expect(outline(queued.agent.state.messages).slice(-2)).toEqual(["user:wait", "assistant:heard"]);
  });

  it("T6 an error reply ends the run and the queues are kept", async () => {
    const { agent, script } = rig([failure("overloaded"), reply("never")]);
    agent.followUp("later");
    await agent.prompt("hi");
    expect(script.calls).toHaveLength(1);
    expect(agent.hasQueuedMessages()).toBe(true);
    expect(agent.state.errorMessage).toBe("overloaded");
  });

  it("T7 timers stay alive while an in-memory model runs many turns", async () => {
    let turns = 0;
    let seen = 0;
    const timer = setInterval(() => {
      seen++;
    }, 1);
    const { agent } = rig(() => (++turns < 300 ? reply(call("n", { turns })) : reply("end")), {
      tools: [tool("n", () => String(turns))],
    });
    await agent.prompt("go");
    clearInterval(timer);
    expect(seen).toBeGreaterThan(5);
  });
});

describe("runs", () => {
  it("R1 prompt takes text, images, one or several messages; it rejects without one and during a run", async () => {
    const { agent, script } = rig([reply("1"), reply("2"), reply("3")]);
    const image = { type: "image" as const, data: "aGk=", mimeType: "image/png" };
    await agent.prompt("look", [image]);
    expect(script.calls[0]?.context.messages[0]?.content).toEqual([{ type: "text", text: "look" }, image]);
    await agent.prompt([user("a"), user("b")]);
    expect(outline(agent.state.messages).slice(2, 4)).toEqual(["user:a", "user:b"]);
    await expect(agent.prompt([])).rejects.toThrow();
    const run = agent.prompt(user("c"));
    let thrown = false;
    const second = (() => {
      try {
        return agent.prompt("d");
      } catch {
        thrown = true;
        return Promise.resolve();
      }
    })();
    expect(thrown).toBe(false);
    await expect(second).rejects.toThrow(/steer.*followUp/);
    await run;
    script.assertDone();
  });

  it("R2 continue starts from user and tool result, from an answer only with a queue, never from nothing", async () => {
    await expect(rig([]).agent.continue()).rejects.toThrow(/empty/);
    const fromUser = rig([reply("ok")], { initialState: { model, messages: [user("hi")] } });
    await fromUser.agent.continue();
    expect(outline(fromUser.agent.state.messages)).toEqual(["user:hi", "assistant:ok"]);
    await expect(fromUser.agent.continue()).rejects.toThrow(/nothing to continue/i);
    expect(fromUser.agent.state.isStreaming).toBe(false);
    const queued = rig([reply("heard")], {
      initialState: { model, messages: [user("hi"), assistant([{ type: "text", text: "x" }])] },
    });
    queued.agent.followUp("more");
    await queued.agent.continue();
    expect(outline(queued.agent.state.messages).slice(2)).toEqual(["user:more", "assistant:heard"]);
    const script = createScript([reply("ok")]);
    const added = await runAgentLoopContinue({ messages: [user("hi")] }, config, ignore, undefined, script.streamFn);
    expect(outline(added)).toEqual(["assistant:ok"]);
    await expect(runAgentLoopContinue({ messages: [] }, config, ignore, undefined, script.streamFn)).rejects.toThrow(
      /empty/,
    );
    await expect(runAgentLoop([], { messages: [] }, config, ignore, undefined, script.streamFn)).rejects.toThrow();
  });

  it("R2 a change of the prompt behind an answer is nothing to answer", async () => {
    const change: AgentMessage = { role: "system", content: "new", timestamp: 0 };
    const messages = [user("hi"), assistant([{ type: "text", text: "x" }]), change];
    const { agent, script } = rig([reply("heard")], { initialState: { model, messages } });
    await expect(agent.continue()).rejects.toThrow(/nothing to continue/i);
    agent.followUp("more");
    await agent.continue();
    expect(script.calls[0]?.context.messages.at(-1)).toMatchObject({ role: "user", content: "more" });
    script.assertDone();
  });

  it("R2 an answer with open calls gets their results first", async () => {
    const messages = [
      user("hi"),
      assistant([
        { type: "toolCall", id: "c1", name: "calculate", arguments: {} },
        { type: "toolCall", id: "c2", name: "calculate", arguments: {} },
      ]),
      {
        role: "toolResult" as const,
        toolCallId: "c1",
        toolName: "calculate",
        content: [],
        isError: false,
        timestamp: 1,
      },
    ];
    const { agent, script } = rig([reply("ok")], { initialState: { model, messages } });
    await agent.continue();
    expect(results(agent.state.messages).map(({ toolCallId, isError }) => [toolCallId, isError])).toEqual([
      ["c1", false],
      ["c2", true],
    ]);
    expect(pairingFaults(script.calls[0]?.context.messages ?? [])).toEqual([]);
  });

  it("R3 retries and continuations invent no user message", async () => {
    const cut = { ...reply(thinking("hm")), stopReason: "length" as const };
    const { agent, script } = rig([cut, reply(), reply("answer")]);
    await agent.prompt("hi");
    expect(script.calls.map(({ context }) => outline(context.messages))).toEqual([
      ["user:hi"],
      ["user:hi"],
      ["user:hi"],
    ]);
    expect(agent.state.messages.filter(({ role }) => role === "user")).toHaveLength(1);
  });

  it("R4 one signal reaches streamFn, hooks, tools and listeners", async () => {
    const signals = new Set<unknown>();
    const { agent, script } = rig([reply(ask), reply("done"), reply("next")], {
      tools: [tool("calculate", (_, signal) => after(signals.add(signal), "4"))],
      transformContext: (messages, signal) => after(signals.add(signal), messages),
      beforeToolCall: (_, signal) => void signals.add(signal),
      afterToolCall: (_, signal) => void signals.add(signal),
      prepareNextTurn: (_, signal) => void signals.add(signal),
    });
    agent.subscribe((_, signal) => void signals.add(signal));
    await agent.prompt("hi");
    for (const { options } of script.calls) signals.add(options.signal);
    expect(signals.size).toBe(1);
    await agent.prompt("more");
    expect(script.calls[2]?.options.signal).not.toBe(script.calls[0]?.options.signal);
  });

  it("R5 isStreaming is set at once and cleared after the listeners, with nothing pending", async () => {
    const { agent } = rig([reply(ask), reply("done")], { tools: [calculate] });
    const seen: [string, boolean, number][] = [];
    agent.subscribe(
      (event) => void seen.push([event.type, agent.state.isStreaming, agent.state.pendingToolCalls.size]),
    );
    const run = agent.prompt("hi");
    expect(agent.state.isStreaming).toBe(true);
    await run;
    expect(seen.every(([, streaming]) => streaming)).toBe(true);
    expect(seen.find(([type]) => type === "tool_execution_start")?.[2]).toBe(1);
    expect(agent.state).toMatchObject({ isStreaming: false, pendingToolCalls: new Set() });
    expect(agent.state.streamingMessage).toBeUndefined();
  });

  it("R6 the state shows the reply while it streams and the error of a failed one", async () => {
    const { agent } = rig([reply("hello"), { ...failure("bad key"), errorKind: "auth" }, reply("fine")]);
    const partials: string[] = [];
    agent.subscribe((event) => {
      if (event.type === "message_update") partials.push(textOf(agent.state.streamingMessage));
    });
    await agent.prompt("hi");
    expect(partials.at(-1)).toBe("hello");
    await agent.prompt("hi");
    expect(agent.state.errorMessage).toBe("bad key");
    await agent.prompt("hi");
    expect(agent.state.errorMessage).toBeUndefined();
  });

  it("R10 interrupt stops the reply or the batch, closes its calls and continues in the same run", async () => {
    const started = gate();
    const stuck = tool("stuck", () => {
      started.open();
      return new Promise(() => undefined);
    });
    const { agent, script, events } = rig([reply(call("stuck"), call("stuck")), reply("new way")], { tools: [stuck] });
    const run = agent.prompt("hi");
    await started.promise;
    void agent.interrupt("do this instead");
    await run;
    expect(outline(agent.state.messages)).toEqual([
      "user:hi",
      "assistant:call(stuck),call(stuck)",
      expect.stringMatching(/toolResult:Aborted.*in part/),
      expect.stringMatching(/toolResult:Aborted/),
      "user:do this instead",
      "assistant:new way",
    ]);
    expect(eventFaults(events)).toEqual([]);
    expect(pairingFaults(script.calls[1]?.context.messages ?? [])).toEqual([]);
    expect(script.calls[1]?.options.signal?.aborted).toBe(false);

    const streaming = rig([{ ...reply("half"), fault: "hang_midway", chunkSize: 1 }, reply("other")]);
    let done = false;
    streaming.agent.subscribe((event) => {
      if (event.type !== "message_update" || done) return;
      done = true;
      void streaming.agent.interrupt("stop");
    });
    await streaming.agent.prompt("hi");
    expect(outline(streaming.agent.state.messages).slice(-2)).toEqual(["user:stop", "assistant:other"]);
    expect(assistants(streaming.agent.state.messages)[0]).toMatchObject({ stopReason: "aborted" });

    const idle = rig([reply("ok")]);
    await idle.agent.interrupt("start");
    expect(outline(idle.agent.state.messages)).toEqual(["user:start", "assistant:ok"]);
  });

  it("R10 an interrupt that an abort overtakes stays queued", async () => {
    const started = gate();
    const stuck = tool("stuck", () => after(started.open(), new Promise(() => undefined)));
    const { agent, script } = rig([reply(call("stuck")), reply("later")], { tools: [stuck] });
    const run = agent.prompt("hi");
    await started.promise;
    void agent.interrupt("do this");
    agent.abort();
    await run;
    expect(script.calls).toHaveLength(1);
    expect(agent.hasQueuedMessages()).toBe(true);
    await agent.continue();
    expect(outline(agent.state.messages).slice(-2)).toEqual(["user:do this", "assistant:later"]);
  });

  it("R10 an interrupt as the run ends still starts its turn", async () => {
    const { agent } = rig([reply("one"), reply("two")]);
    const unsubscribe = agent.subscribe((event) => {
      if (event.type !== "agent_end") return;
      unsubscribe();
      void agent.interrupt("late");
    });
    await agent.prompt("hi");
    expect(outline(agent.state.messages).slice(-2)).toEqual(["user:late", "assistant:two"]);
  });
});

describe("cost", () => {
  it("O1 a turn costs nothing that grows with the transcript, except the request itself", async () => {
    const work = async (size: number) => {
      const messages: AgentMessage[] = Array.from({ length: size }, (_, index) => user(`q${index}`));
      let turns = 0;
      const counts: number[] = [];
      let last = 0;
      const watched = messages.map((message) => {
        const { role } = message;
        return Object.defineProperty({ ...message }, "role", {
          get: () => after(last++, role),
          enumerable: true,
        }) as AgentMessage;
      });
      const agent = new Agent({
        initialState: { model, messages: watched, tools: [tool("n", () => String(turns))] },
        streamFn: (...args) => {
          counts.push(last);
          last = 0;
          return createScript([++turns < 6 ? reply(call("n", { turns })) : reply("end")], {
            copyContexts: false,
          }).streamFn(...args);
        },
      });
      await agent.prompt("go");
      return counts.slice(2);
    };
    // Only convertToLlm looks at old messages, once a request.
    for (const count of await work(2000)) expect(count).toBeLessThanOrEqual(2000);
  });

  it("O1 appending costs the same at the end of a long transcript", async () => {
    const work = async (size: number) => {
      const messages: AgentMessage[] = Array.from({ length: size }, (_, index) => user(`q${index}`));
      const { agent } = rig([], { initialState: { model, messages } });
      let added = 0;
      agent.subscribe((event) => void (event.type === "message_end" && added++));
      const before = await countWork(() => agent.prompt([user("a")]));
      return (await countWork(() => agent.prompt(Array.from({ length: 50 }, () => user("b"))))) - before;
    };
    expect(Math.abs((await work(4000)) - (await work(10)))).toBeLessThan(400);
  });

  it("O3 each request begins with the request before it", async () => {
    const contexts: Context[] = [];
    let turns = 0;
    const script = createScript(() => {
      turns++;
      if (turns % 5 === 0) return reply(thinking("only"));
      return turns % 3 === 0 ? reply("text") : reply("so", call("n", { turns }), call("missing", {}, "same"));
    });
    const agent = new Agent({
      initialState: { model, tools: [tool("n", () => String(turns))], systemPrompt: "p" },
      streamFn: (...args) => {
        contexts.push(structuredClone(args[1]));
        return script.streamFn(...args);
      },
    });
    for (const text of ["a", "b", "c", "d"]) {
      agent.state.tools = [...agent.state.tools, tool(`extra_${text}`)];
      await agent.prompt(text);
    }
    expect(contexts.length).toBeGreaterThan(8);
    for (const [index, context] of contexts.slice(1).entries()) {
      const before = contexts[index];
      expect(JSON.stringify(context.messages.slice(0, before?.messages.length))).toBe(JSON.stringify(before?.messages));
      expect([context.systemPrompt, context.tools]).toEqual([before?.systemPrompt, before?.tools]);
      expect(pairingFaults(context.messages)).toEqual([]);
    }
  });
});
