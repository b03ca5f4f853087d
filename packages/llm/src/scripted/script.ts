import type { Model } from "../protocol/model.ts";
import type { Context, StreamFn, StreamOptions } from "../protocol/request.ts";
import { frozenCopy } from "./frozen-copy.ts";
import { playReply } from "./play.ts";
import { failure, type ScriptReply } from "./reply.ts";

/** One request that reached the scripted model. */
export interface ScriptCall {
  model: Model;
  /** A frozen copy of the context as it was when it was sent. */
  context: Context;
  options: StreamOptions;
}

/** Looks at the request and answers it. `index` counts requests from 0. */
export type ScriptFunction = (call: ScriptCall, index: number) => ScriptReply | Promise<ScriptReply>;
export type ScriptStep = ScriptReply | ScriptFunction;

export interface ScriptOptions {
  /** Unix time in milliseconds for the messages. Default: the clock. */
  now?: () => number;
  /** False keeps only references to contexts: for scripts of thousands of turns. Default true. */
  copyContexts?: boolean;
}

export interface Script {
  streamFn: StreamFn;
  /** Every request so far, in order. */
  calls: ScriptCall[];
  /** Throws when a request came that no step was there for, when a step function threw, or when a step was not used. */
  assertDone(): void;
}

/** A model that is never asked over a network. */
export function scriptedModel(overrides: Partial<Model> = {}): Model {
  return {
    id: "demo",
    name: "Scripted demo",
    api: "scripted",
    provider: "scripted",
    baseUrl: "",
    reasoning: false,
    input: ["text", "image"],
    cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
    contextWindow: 200_000,
    maxTokens: 32_000,
    ...overrides,
  };
}

/**
 * A model that answers request n with step n. A single function instead of a list answers every request.
 * A request too many is answered by an error message that says so, and `assertDone` throws.
 */
export function createScript(steps: readonly ScriptStep[] | ScriptFunction, options: ScriptOptions = {}): Script {
  const calls: ScriptCall[] = [];
  const problems: string[] = [];
  const now = options.now ?? Date.now;
  const copy = options.copyContexts ?? true;

  const answer = async (step: ScriptFunction, call: ScriptCall, index: number): Promise<ScriptReply> => {
    try {
      return await step(call, index);
    } catch (error) {
      const problem = `the script's function for request ${index + 1} threw: ${String(error)}`;
      problems.push(problem);
      return failure(problem);
    }
  };

  const streamFn: StreamFn = (model, context, streamOptions) => {
    const index = calls.length;
    const call: ScriptCall = { model, context: copy ? frozenCopy(context) : context, options: streamOptions };
    calls.push(call);
    const step = typeof steps === "function" ? steps : steps[index];
    const place = () => ({ model, step: index, timestamp: now() });
    if (typeof step === "function") {
      return answer(step, call, index).then((reply) => playReply(reply, place(), streamOptions.signal));
    }
    if (step) return playReply(step, place(), streamOptions.signal);
    const problem = `Unexpected request ${index + 1}: the script has ${steps.length} steps. ${lastMessage(context)}`;
    problems.push(problem);
    return playReply(failure(problem), place(), streamOptions.signal);
  };

  const assertDone = () => {
    const unused = typeof steps === "function" ? 0 : steps.length - calls.length;
    if (unused > 0)
      problems.push(`The script was not played to its end: ${calls.length} of ${steps.length} steps used.`);
    if (problems.length > 0) throw new Error([...new Set(problems)].join("\n"));
  };
  return { streamFn, calls, assertDone };
}

function lastMessage(context: Context): string {
  const last = context.messages.at(-1);
  return last ? `Its last message: ${JSON.stringify(last).slice(0, 400)}` : "It has no messages.";
}
