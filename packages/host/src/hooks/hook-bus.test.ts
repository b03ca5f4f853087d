import type { AgentMessage } from "@tau/agent";
import { describe, expect, it } from "vitest";
import { HookBus, type HookFailure } from "./hook-bus.ts";
import type { FinishedCall, HookRow, HookStage, ToolOpinion } from "./points.ts";

const signal = new AbortController().signal;
const user = (content: string): AgentMessage => ({ role: "user", content, timestamp: 0 });
const call = { toolCallId: "1", toolName: "t", args: { n: 1 } };
const finished: FinishedCall = {
  toolCall: { type: "toolCall", id: "1", name: "t", arguments: {} },
  args: {},
  result: { content: [{ type: "text", text: "out" }], details: { a: 1 } },
  isError: false,
};

function adding(name: string, stage: HookStage): HookRow {
  return { name, stage, point: "context", run: (messages) => [...messages, user(name)] };
}

function gate(name: string, run: () => ToolOpinion | undefined | Promise<ToolOpinion>, timeoutMs?: number): HookRow {
  return { name, stage: "extension", point: "beforeTool", run, ...(timeoutMs !== undefined && { timeoutMs }) };
}

const textsOf = (messages: readonly AgentMessage[]) => messages.map((each) => "content" in each && each.content);

describe("HookBus", () => {
  it("X1 rows run by stage, those of one stage as they were added, each on what the earlier ones gave", async () => {
    const bus = new HookBus();
    bus.add(adding("host", "host"));
    bus.add(adding("second", "extension"));
    bus.add(adding("third", "extension"));
    bus.add(adding("program", "program"));
    expect(textsOf(await bus.context([user("start")], signal))).toEqual([
      "start",
      "program",
      "second",
      "third",
      "host",
    ]);
  });

  it("rows come and go while the bus is in use, and a swap is one step", async () => {
    const bus = new HookBus();
    const old = [adding("a", "extension"), adding("b", "extension")];
    bus.replace([], old);
    const remove = bus.add(adding("c", "host"));
    bus.replace(old, [adding("new", "extension")]);
    expect(textsOf(await bus.context([], signal))).toEqual(["new", "c"]);
    remove();
    expect(textsOf(await bus.context([], signal))).toEqual(["new"]);
    expect(bus.has("context")).toBe(true);
    expect(bus.has("message")).toBe(false);
  });

  it("X1 who is being asked is asked to the end, also when its row is taken away meanwhile", async () => {
    const bus = new HookBus();
    const late: HookRow = adding("late", "host");
    bus.add({
      name: "remover",
      stage: "program",
      point: "context",
      run: async (messages) => {
        bus.replace([late], []);
        return messages;
      },
    });
    bus.add(late);
    expect(textsOf(await bus.context([], signal))).toEqual(["late"]);
    expect(textsOf(await bus.context([], signal))).toEqual([]);
  });

  it.each([
    ["nothing is asked", [], undefined],
    ["allow continues, the first denial wins", ["allow", "deny", "ask"], "deny"],
    ["the first question wins", [undefined, "ask", "deny"], "ask"],
    ["nobody minds", ["allow", undefined], "allow"],
  ])("P1 before a tool: %s", async (_what, actions, expected) => {
    const bus = new HookBus();
    const asked: number[] = [];
    for (const [index, action] of actions.entries()) {
      bus.add(
        gate(`row ${index}`, () => {
          asked.push(index);
          if (action === "allow") return { action };
          return action === "deny" || action === "ask" ? { action, reason: `${index}` } : undefined;
        }),
      );
    }
    expect((await bus.beforeTool(call, signal))?.action).toBe(expected);
    const stopped = actions.findIndex((action) => action === "deny" || action === "ask");
    expect(asked).toHaveLength(stopped < 0 ? actions.length : stopped + 1);
  });

  it("changed arguments reach the rows after it", async () => {
    const bus = new HookBus();
    const seen: unknown[] = [];
    bus.add(gate("one", () => ({ action: "allow", args: { n: 2 } })));
    bus.add({ name: "two", stage: "host", point: "beforeTool", run: ({ args }) => void seen.push(args) });
    expect(await bus.beforeTool(call, signal)).toEqual({ action: "allow", args: { n: 2 } });
    expect(seen).toEqual([{ n: 2 }]);
  });

  it("C11 a row that throws or is late before a tool denies, and is reported", async () => {
    const failures: HookFailure[] = [];
    const throwing = new HookBus();
    throwing.reportTo((failure) => failures.push(failure));
    throwing.add(
      gate("bad", () => {
        throw new Error("broken");
      }),
    );
    throwing.add(gate("after", () => ({ action: "allow" })));
    expect(await throwing.beforeTool(call, signal)).toEqual({
      action: "deny",
      reason: "The check of bad failed: broken",
    });
    const late = new HookBus();
    late.add(gate("slow", () => new Promise<ToolOpinion>(() => undefined), 5));
    expect(await late.beforeTool(call, signal)).toMatchObject({
      action: "deny",
      reason: expect.stringContaining("5 ms"),
    });
    expect(failures).toEqual([{ name: "bad", point: "beforeTool", message: "broken" }]);
  });

  it("X1 elsewhere a row that throws, rejects, or is late is reported and passed over", async () => {
    const failures: string[] = [];
    const bus = new HookBus();
    bus.reportTo(({ name }) => failures.push(name));
    const row = (name: string, run: (messages: AgentMessage[]) => Promise<AgentMessage[]>, timeoutMs?: number) =>
      bus.add({ name, stage: "program", point: "context", run, ...(timeoutMs !== undefined && { timeoutMs }) });
    row("throws", () => {
      throw new Error("x");
    });
    row("rejects", () => Promise.reject(new Error("x")));
    row("late", () => new Promise(() => undefined), 5);
    bus.add(adding("fine", "host"));
    expect(textsOf(await bus.context([], signal))).toEqual(["fine"]);
    expect(failures).toEqual(["throws", "rejects", "late"]);
  });

  it("R8 a row that ignores an abort is left", async () => {
    const bus = new HookBus();
    bus.add({ name: "deaf", stage: "program", point: "context", run: () => new Promise(() => undefined) });
    bus.add(adding("next", "host"));
    expect(textsOf(await bus.context([], AbortSignal.abort()))).toEqual(["next"]);
  });

  it("C13 after a tool each given field replaces its own, and changes in place do not count", async () => {
    const bus = new HookBus();
    const seen: unknown[] = [];
    bus.add({
      name: "in place",
      stage: "program",
      point: "afterTool",
      run: ({ result }) => void result.content.push({ type: "text", text: "sneaked in" }),
    });
    bus.add({ name: "details", stage: "extension", point: "afterTool", run: () => ({ details: 2 }) });
    bus.add({
      name: "error",
      stage: "host",
      point: "afterTool",
      run: ({ result }) => {
        seen.push(result);
        return { isError: true };
      },
    });
    const { changes, failures } = await bus.afterTool(finished, signal);
    expect(changes).toEqual({ details: 2, isError: true });
    expect(seen).toEqual([{ content: [{ type: "text", text: "out" }], details: 2 }]);
    expect(failures).toEqual([]);
  });

  it("X6 a message is replaced by one of the same role only", async () => {
    const failures: HookFailure[] = [];
    const bus = new HookBus();
    bus.reportTo((failure) => failures.push(failure));
    const to = (message: AgentMessage): HookRow => ({
      name: "replacer",
      stage: "extension",
      point: "message",
      run: () => message,
    });
    bus.add(to(user("new")));
    bus.add(to({ role: "custom", customType: "x", content: "no", display: false, timestamp: 0 }));
    expect(await bus.message(user("old"), signal)).toEqual(user("new"));
    expect(failures).toHaveLength(1);
    expect(await new HookBus().message(user("old"), signal)).toBeUndefined();
  });

  it("E6 X2 messages of all rows are collected before a turn and before settling", async () => {
    const bus = new HookBus<string>();
    for (const name of ["a", "b"]) {
      bus.add({ name, stage: "extension", point: "beforeTurn", run: () => [user(name)] });
      bus.add({ name, stage: "extension", point: "beforeSettle", run: (outcome) => [user(`${name} ${outcome}`)] });
    }
    bus.add({ name: "silent", stage: "extension", point: "beforeTurn", run: () => undefined });
    expect(textsOf(await bus.beforeTurn(signal))).toEqual(["a", "b"]);
    expect(textsOf(await bus.beforeSettle("done", signal))).toEqual(["a done", "b done"]);
  });
});
