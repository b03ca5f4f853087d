import { reply } from "@tau/llm/testing";
import { describe, expect, it } from "vitest";
import { after, call, gate, outline, rig, textOf, tool, user } from "./__fixtures__/kit.ts";
import type { Agent } from "./agent.ts";
import type { AgentEvent } from "./events.ts";
import { MessageQueues } from "./queue.ts";

const never = () => new Promise<never>(() => undefined);

/** Text and id of every message that came with an id, from its start and from its end. */
function entered(events: readonly AgentEvent[]) {
  const of = (type: "message_start" | "message_end") =>
    events.flatMap((event) => (event.type === type && event.queueId ? [[textOf(event.message), event.queueId]] : []));
  expect(of("message_start")).toEqual(of("message_end"));
  return of("message_end");
}

describe("ids of queued messages", () => {
  it("Q4 every accepted message has an id of its own, and its events carry it, also when two say the same", async () => {
    const { agent, events } = rig(() => reply("ok"), { tools: [tool("a")] });
    const ids = [agent.steer("same"), agent.steer(user("same")), agent.followUp("same"), agent.followUp("other")];
    expect(new Set(ids).size).toBe(4);
    await agent.prompt("hi");
    expect(entered(events)).toEqual([
      ["same", ids[0]],
      ["same", ids[1]],
      ["same", ids[2]],
      ["other", ids[3]],
    ]);
    const plain = events.filter((event) => event.type === "message_end" && !("queueId" in event));
    expect(plain.map((event) => "message" in event && event.message.role)).toContain("user");
  });

  it("Q4 a message keeps the id that it brings, by every way in", async () => {
    const started = gate();
    const { agent, events } = rig([reply(call("a")), reply("now"), reply("end"), reply("again"), reply("last")], {
      tools: [tool("a", () => after(started.open(), never()))],
      steeringMode: "all",
    });
    const run = agent.prompt([user("hi"), { id: "p", message: user("prompted") }]);
    await started.promise;
    expect(agent.steer({ id: "s", message: user("steered") })).toBe("s");
    expect(agent.followUp({ id: "f", message: user("followed") })).toBe("f");
    expect(await agent.interrupt({ id: "i", message: user("interrupting") })).toBe("i");
    await run;
    expect(await agent.interrupt({ id: "idle", message: user("started a run") })).toBe("idle");
    expect(entered(events)).toEqual([
      ["prompted", "p"],
      ["interrupting", "i"],
      ["steered", "s"],
      ["followed", "f"],
      ["started a run", "idle"],
    ]);
  });

  it("Q4 an id is given once; what was handed back may be queued again under its own", () => {
    const { agent } = rig([]);
    agent.steer({ id: "q2", message: user("mine") });
    expect([agent.steer("one"), agent.steer("two")]).toEqual(["q1", "q3"]);
    expect(() => agent.followUp({ id: "q2", message: user("again") })).toThrow(/"q2" was given/);
    expect(() => agent.steer({ id: "x", message: {} as never })).toThrow(TypeError);
    const back = agent.clearAllQueues();
    expect(back.queueIds).toEqual({ steering: ["q2", "q1", "q3"], followUp: [] });
    expect(agent.followUp({ id: "q2", message: user("mine") })).toBe("q2");
    expect(agent.hasQueuedMessages()).toBe(true);
  });

  it("Q5 what an abort overtook keeps its id and its place, whether it was taken already or not", async () => {
    const { agent } = rig([reply("one")], { followUpMode: "all" });
    const ids = [agent.followUp("f1"), agent.followUp("f2")];
    let turns = 0;
    agent.subscribe((event) => {
      if (event.type === "turn_start" && ++turns === 2) agent.abort();
    });
    await agent.prompt("hi");
    expect(agent.snapshot().queueIds.followUp).toEqual(ids);
    expect(agent.clearAllQueues().queueIds.followUp).toEqual(ids);
  });

  it("Q4 R10 what goes back to its queue stands behind the interrupts and before the rest", () => {
    const queues = new MessageQueues(() => 1);
    const [taken, waiting] = [queues.accept("taken"), queues.accept("waiting")];
    for (const one of [taken, waiting]) queues.add("steering", one);
    expect(queues.take("steering", "one-at-a-time")).toEqual([taken]);
    const [first, second] = [queues.accept("now"), queues.accept("and then")];
    queues.addInterrupt(first);
    queues.giveBack([taken], "steering");
    queues.addInterrupt(second);
    expect(queues.list().queueIds.steering).toEqual([first.id, second.id, taken.id, waiting.id]);
    expect(queues.takeInterrupts()).toEqual([first, second]);
    expect(queues.isInterrupted).toBe(false);
  });

  it("R7 a snapshot keeps the ids, also of messages on their way; one without ids gets new ones", async () => {
    const { agent } = rig([reply("one"), reply("two")], { followUpMode: "all" });
    const ids = [agent.followUp("f1"), agent.followUp("f2")];
    let taken: ReturnType<Agent["snapshot"]> | undefined;
    agent.subscribe((event) => {
      if (event.type === "message_start" && textOf(event.message) === "f1") taken = agent.snapshot();
    });
    await agent.prompt("hi");
    expect(taken?.queueIds.followUp).toEqual(ids);
    const other = rig(() => reply("ok"));
    if (taken) other.agent.restore(JSON.parse(JSON.stringify(taken)));
    expect(other.agent.snapshot()).toEqual(taken);
    expect(ids).not.toContain(other.agent.followUp("f3"));
    await other.agent.prompt("on");
    expect(entered(other.events).map(([text]) => text)).toEqual(["f1", "f2", "f3"]);
    expect(entered(other.events).map(([, id]) => id)).toEqual(expect.arrayContaining(ids));

    const { queueIds: _ids, ...old } = { ...agent.snapshot(), steering: [user("old")] };
    other.agent.restore(old as never);
    expect(other.agent.snapshot().queueIds.steering).toEqual([expect.stringMatching(/^q\d+$/)]);
  });
});

describe("messages that a hook replaces", () => {
  const say = (message: object, text: string) => ({ ...message, content: [{ type: "text", text }] }) as never;

  it("X6 a hook replaces a message before state, listeners, transcript and the next request see it", async () => {
    const { agent, events, script } = rig([reply("plain", call("a", { n: 1 }, "c1")), reply("end")], {
      tools: [tool("a", (args) => `ran ${args.n}`)],
      beforeMessageEnd: async (message) => {
        await Promise.resolve();
        if (message.role === "user") return { ...message, content: `${textOf(message)}!` };
        if (message.role === "toolResult") return say({ ...message, toolCallId: "x", toolName: "y" }, "masked");
        if (message.role !== "assistant" || textOf(message) === "end") return undefined;
        const blocks = message.content.map((block) =>
          block.type === "toolCall" ? { ...block, arguments: { n: 2 } } : { type: "text" as const, text: "changed" },
        );
        return { ...message, content: blocks };
      },
    });
    agent.subscribe((event) => {
      if (event.type === "message_end") expect(agent.state.messages.at(-1)).toBe(event.message);
    });
    await agent.prompt("hi");
    expect(outline(agent.state.messages)).toEqual([
      "user:hi!",
      "assistant:changed,call(a)",
      "toolResult:masked",
      "assistant:end",
    ]);
    const start = events.find(({ type }) => type === "tool_execution_start");
    expect(start).toMatchObject({ toolCallId: "c1", args: { n: 2 } });
    const turn = events.find(({ type }) => type === "turn_end");
    expect(turn).toMatchObject({ message: { content: [{ text: "changed" }, {}] } });
    expect(turn).toMatchObject({ toolResults: [{ toolCallId: "c1", toolName: "a", content: [{ text: "masked" }] }] });
    expect(outline(script.calls[1]?.context.messages ?? [])).toEqual(outline(agent.state.messages).slice(0, 3));
    expect(events.at(-1)).toMatchObject({ messages: agent.state.messages });
  });

  it("X6 a hook that throws, gives another role or no message keeps the message and is reported", async () => {
    const ways: [string, (message: object) => unknown][] = [
      ["fails", () => Promise.reject(new Error("it fails"))],
      ["throws", () => after(undefined, JSON.parse("{"))],
      ["another role", (message) => ({ ...message, role: "custom" })],
      ["no message", () => ({})],
      ["a text", () => "text"],
    ];
    for (const [name, way] of ways) {
      const { agent, events, script } = rig([reply(call("a")), reply("end")], {
        tools: [tool("a")],
        beforeMessageEnd: (message) => way(message) as never,
      });
      await agent.prompt("hi");
      expect(outline(agent.state.messages), name).toEqual([
        "user:hi",
        "assistant:call(a)",
        "toolResult:a",
        "assistant:end",
      ]);
      const reports = events.filter(({ type }) => type === "listener_error");
      expect(reports, name).toHaveLength(4);
      expect(reports[0]).toMatchObject({ event: "message_end", error: expect.any(String) });
      script.assertDone();
    }
  });

  it("X6 C10 calls that a hook adds or repeats get ids of their own, and what it keeps of the message is a copy", async () => {
    let kept: unknown;
    const { agent } = rig([reply(call("a", {}, "c1")), reply("end")], {
      tools: [tool("a")],
      beforeMessageEnd: (message) => {
        if (message.role !== "assistant" || message.content[0]?.type !== "toolCall") return undefined;
        const [first] = message.content;
        kept = { ...message, content: [first, { ...first }, { ...first, id: "" }] };
        return kept as never;
      },
    });
    await agent.prompt("hi");
    Object.assign(kept as object, { content: [] });
    const [, replied] = agent.state.messages;
    const ids = replied?.role === "assistant" && replied.content.map((block) => block.type === "toolCall" && block.id);
    expect(ids).toEqual(["c1", "c1_2", "call_1"]);
    expect(agent.state.messages.filter(({ role }) => role === "toolResult")).toHaveLength(3);
  });

  it("X6 R8 an abort waits no longer for such a hook than its grace, and the message stays as it was", async () => {
    const asked = gate();
    const { agent } = rig([reply("said")], {
      beforeMessageEnd: (message) => (message.role === "assistant" ? after(asked.open(), never()) : undefined),
    });
    const run = agent.prompt("hi");
    await asked.promise;
    agent.abort();
    await run;
    expect(outline(agent.state.messages)[1]).toBe("assistant:said");
  });

  it("X6 Q4 a queued message that is replaced still enters under its id", async () => {
    const { agent, events } = rig(() => reply("ok"), {
      beforeMessageEnd: (message) => (message.role === "user" ? user(`${textOf(message)}?`) : undefined),
    });
    const id = agent.steer("steered");
    await agent.prompt("hi");
    const end = events.find((event) => event.type === "message_end" && event.queueId === id);
    expect(end).toMatchObject({ message: { content: "steered?" } });
  });
});
