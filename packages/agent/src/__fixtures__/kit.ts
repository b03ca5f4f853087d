import type { AssistantMessage, AssistantMessageEvent, Message, StreamFn, UserMessage } from "@tau/llm";
import { createScript, type Script, type ScriptFunction, type ScriptStep, scriptedModel, toolCall } from "@tau/llm/testing";
import { Agent, type AgentOptions } from "../agent.ts";
import type { AgentEvent } from "../events.ts";
import type { AgentMessage } from "../messages.ts";
import type { AgentTool, AgentToolResult } from "../tool.ts";

export const model = scriptedModel({ reasoning: true });

export const user = (content: string): UserMessage => ({ role: "user", content, timestamp: 1 });

export const result = (text: string, more: Partial<AgentToolResult> = {}): AgentToolResult => ({
  content: [{ type: "text", text }],
  details: {},
  ...more,
});

/** A tool without required parameters; `run` gives its text or its result. */
export function tool(
  name: string,
  run: (args: Record<string, unknown>, signal: AbortSignal, id: string) => unknown = () => name,
  more: Partial<AgentTool> = {},
): AgentTool {
  return {
    name,
    label: name,
    description: `The tool ${name}`,
    parameters: { type: "object", properties: {} },
    execute: async (id, args, signal) => {
      const given = await run(args, signal, id);
      return typeof given === "string" ? result(given) : (given as AgentToolResult);
    },
    ...more,
  };
}

/** A promise with its handles. */
export function gate<T = void>(): { promise: Promise<T>; open: (value: T) => void; fail: (error: unknown) => void } {
  let open: (value: T) => void = () => undefined;
  let fail: (error: unknown) => void = () => undefined;
  const promise = new Promise<T>((resolve, reject) => {
    open = resolve;
    fail = reject;
  });
  return { promise, open, fail };
}

export interface Rig {
  agent: Agent;
  script: Script;
  events: AgentEvent[];
}

type Steps = readonly ScriptStep[] | ScriptFunction;

/** An agent on a script that records its events. */
export function rig(steps: Steps, options: Partial<AgentOptions> & { tools?: AgentTool[] } = {}): Rig {
  const script = createScript(steps);
  const { tools = [], initialState, ...rest } = options;
  const state = { model, tools, ...initialState };
  const agent = new Agent({ streamFn: script.streamFn, limits: { abortGraceMs: 30 }, ...rest, initialState: state });
  const events: AgentEvent[] = [];
  agent.subscribe((event) => {
    events.push(event);
  });
  return { agent, script, events };
}

export const call = (name: string, args: Record<string, unknown> = {}, id?: string) => toolCall(name, args, id);
export const types = (events: readonly AgentEvent[]) => events.map(({ type }) => type);

export function textOf(message: AgentMessage | Message | undefined): string {
  if (!message || !("content" in message)) return "";
  const { content } = message;
  return typeof content === "string" ? content : content.map((block) => ("text" in block ? block.text : "")).join("");
}

/** A short view of messages: `user:hi`, `assistant:call(a)`, `toolResult:text`. */
export function outline(messages: readonly (AgentMessage | Message)[]): string[] {
  return messages.map((message) => {
    if (message.role !== "assistant") return `${message.role}:${textOf(message)}`;
    const blocks = message.content.map((block) =>
      block.type === "toolCall" ? `call(${block.name})` : block.type === "text" ? block.text : "(thinking)",
    );
    const end = message.stopReason === "stop" || message.stopReason === "toolUse" ? "" : `[${message.stopReason}]`;
    return `assistant:${blocks.join(",")}${end}`;
  });
}

export const results = (messages: readonly AgentMessage[]) => messages.filter((message) => message.role === "toolResult");
export const assistants = (messages: readonly AgentMessage[]) =>
  messages.filter((message) => message.role === "assistant");

/** What is wrong with the messages of a request by law B5: nothing, for every request. */
export function pairingFaults(messages: readonly Message[]): string[] {
  const faults: string[] = [];
  const ids = new Set<string>();
  let open: string[] = [];
  for (const message of messages) {
    if (message.role === "toolResult") {
      if (open.shift() !== message.toolCallId) faults.push(`result ${message.toolCallId} is out of place`);
      continue;
    }
    if (open.length > 0) faults.push(`no result for ${open.join()}`);
    open = [];
    if (message.role !== "assistant") continue;
    if (message.content.length === 0) faults.push("empty reply");
    for (const block of message.content) {
      if (block.type !== "toolCall") continue;
      if (ids.has(block.id) || block.id === "") faults.push(`id ${block.id} is taken`);
      ids.add(block.id);
      open.push(block.id);
    }
  }
  if (open.length > 0) faults.push(`no result for ${open.join()}`);
  return faults;
}

/** What is wrong with the events of one run by laws T1, T2, T4, S3, C5, C6. */
export function eventFaults(events: readonly AgentEvent[]): string[] {
  const faults: string[] = [];
  const expect = (good: boolean, what: string) => good || faults.push(what);
  const plain = events.filter(({ type }) => type !== "listener_error");
  expect(plain[0]?.type === "agent_start", "agent_start is not first");
  expect(plain.at(-1)?.type === "agent_end", "agent_end is not last");
  expect(plain.filter(({ type }) => type === "agent_end").length === 1, "not one agent_end");
  let message: string | undefined;
  let inTurn = false;
  let calls: string[] | undefined;
  const running = new Set<string>();
  for (const event of plain) {
    switch (event.type) {
      case "turn_start":
        expect(!inTurn, "turn in a turn");
        inTurn = true;
        calls = undefined;
        break;
      case "message_start":
        expect(message === undefined, "message in a message");
        message = event.message.role;
        break;
      case "message_update":
        expect(message === "assistant", "update outside of a reply");
        break;
      case "message_end": {
        expect(message === event.message.role, "end without its start");
        message = undefined;
        if (event.message.role === "assistant") {
          expect(calls === undefined, "two replies in a turn");
          calls = event.message.content.flatMap((block) => (block.type === "toolCall" ? [block.id] : []));
        }
        if (event.message.role === "toolResult" && calls) {
          expect(calls.shift() === event.message.toolCallId, "result out of call order");
        }
        break;
      }
      case "tool_execution_start":
        expect(calls !== undefined && !running.has(event.toolCallId), "execution outside of a batch");
        running.add(event.toolCallId);
        break;
      case "tool_execution_update":
        expect(running.has(event.toolCallId), "late update");
        break;
      case "tool_execution_end":
        expect(running.delete(event.toolCallId), "execution end without start");
        break;
      case "turn_end":
        expect(inTurn && calls?.length === 0, `turn ends with open calls ${calls?.join()}`);
        inTurn = false;
        calls = undefined;
        break;
      default:
    }
  }
  expect(running.size === 0, "execution without end");
  expect(message === undefined && !inTurn, "something is open at the end");
  return faults;
}

/** A streamFn that plays raw events; what the protocol's types forbid can be cast. */
export function rawStream(source: () => AsyncIterable<unknown>): StreamFn {
  return () => {
    const stream = source();
    return {
      [Symbol.asyncIterator]: () => stream[Symbol.asyncIterator]() as AsyncIterator<AssistantMessageEvent>,
      result: () => new Promise<AssistantMessage>(() => undefined),
    };
  };
}

export function assistant(content: unknown[], more: Partial<AssistantMessage> = {}): AssistantMessage {
  const cost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 };
  return {
    role: "assistant",
    content: content as AssistantMessage["content"],
    api: "scripted",
    provider: "scripted",
    model: "demo",
    usage: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0, cost },
    stopReason: "stop",
    timestamp: 1,
    ...more,
  };
}

const LOOPS = ["every", "filter", "find", "findIndex", "findLast", "findLastIndex", "flatMap", "forEach", "includes"] as const;
const MORE_LOOPS = ["indexOf", "join", "lastIndexOf", "map", "reduce", "some", "sort", "toReversed", "toSorted"] as const;

/**
 * Elements of arrays, maps and sets that `work` looks at by built-in methods, loops and spreads: a measure of its cost
 * that no busy machine changes.
 */
export async function countWork(work: () => Promise<unknown> | unknown): Promise<number> {
  let count = 0;
  const restore: (() => void)[] = [];
  const wrap = (target: object, name: PropertyKey, cost: (self: never, result: never) => number) => {
    const original = Reflect.get(target, name) as (...args: unknown[]) => unknown;
    const wrapped = function (this: unknown, ...args: unknown[]) {
      const outcome = Reflect.apply(original, this, args);
      count += cost(this as never, outcome as never);
      return outcome;
    };
    Object.defineProperty(target, name, { value: wrapped, configurable: true, writable: true });
    restore.push(() => Object.defineProperty(target, name, { value: original, configurable: true, writable: true }));
  };
  const length = (self: unknown[]) => self.length;
  for (const name of [...LOOPS, ...MORE_LOOPS]) wrap(Array.prototype, name, length);
  for (const name of ["values", "entries", Symbol.iterator]) wrap(Array.prototype, name, length);
  wrap(Array.prototype, "slice", (_self, outcome: unknown[]) => outcome.length);
  for (const kind of [Map, Set])
    for (const name of ["values", "entries", "keys", "forEach", Symbol.iterator]) wrap(kind.prototype, name, (self: Set<unknown>) => self.size);
  try {
    await work();
  } finally {
    for (const undo of restore.reverse()) undo();
  }
  return count;
}

/** The second value, after the first one was worked out. */
export const after = <T>(_first: unknown, value: T): T => value;
