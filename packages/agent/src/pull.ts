import type { StreamFn } from "@tau/llm";
import { Agent } from "./agent.ts";
import type { AgentContext, AgentLoopConfig } from "./config.ts";
import type { AgentEvent } from "./events.ts";
import type { AgentMessage } from "./messages.ts";
import { tick } from "./waiting.ts";

/** What a consumer of the pull form sends in with `next(input)` (law L6). */
export type PullInput =
  | { type: "steer" | "follow_up" | "interrupt"; message: string | AgentMessage }
  | { type: "permission"; id: string; decision: "allow" | "deny"; reason?: string }
  | { type: "abort" };

/** A run as an async generator that takes input, and as a stream: `result()` gives its messages, also when nobody iterates. */
export interface AgentStream extends AsyncGenerator<AgentEvent, AgentMessage[], PullInput | undefined> {
  result(): Promise<AgentMessage[]>;
}

/** `onPermission` hears the permissions that come in; what `beforeToolCall` makes of them is its business. */
type PullConfig = AgentLoopConfig & { onPermission?(answer: Extract<PullInput, { type: "permission" }>): void };
type PullArguments = [context: AgentContext, config: PullConfig, signal?: AbortSignal, streamFn?: StreamFn];

/** The pull form of `runAgentLoop` (law L6): the run waits for the consumer's pull; leaving early aborts it and waits for it. */
export const agentLoop = (prompts: AgentMessage[], ...run: PullArguments): AgentStream =>
  pull((agent) => agent.prompt(prompts), run);
/** The pull form of `runAgentLoopContinue`. */
export const agentLoopContinue = (...run: PullArguments): AgentStream => pull((agent) => agent.continue(), run);

function pull(start: (agent: Agent) => Promise<void>, [context, config, signal, streamFn]: PullArguments): AgentStream {
  const { model, thinkingLevel = "off", onPermission, ...options } = config;
  const agent = new Agent({ ...options, initialState: { ...context, model, thinkingLevel }, streamFn });
  const events: AgentEvent[] = [];
  let [pulled, draining, left] = [false, false, false];
  let messages: AgentMessage[] = [];
  let run: Promise<AgentMessage[]> | undefined;
  let wake: () => void = () => undefined;
  /** Lets the run go on: the consumer has taken the newest event and comes for more. */
  let taken: () => void = () => undefined;
  agent.subscribe((event) => {
    if (event.type === "agent_end") messages = event.messages;
    if (left || (draining && !pulled)) return undefined;
    events.push(event);
    wake();
    const consumed = new Promise<void>((resolve) => {
      taken = resolve;
    });
    return draining ? undefined : consumed;
  });
  const stop = () => agent.abort();
  const runAgent = async () => {
    const over = start(agent);
    signal?.addEventListener("abort", stop);
    if (signal?.aborted) stop();
    await over.finally(() => {
      signal?.removeEventListener("abort", stop);
      left = true;
      wake();
    });
    return messages;
  };
  const begin = () => {
    run ??= runAgent();
    run.catch(() => undefined); // `next` and `result` tell it
    return run;
  };
  const leave = async () => {
    left = true;
    events.length = 0;
    stop();
    taken();
    wake();
    await run?.catch(() => undefined);
  };
  async function* generate(): AsyncGenerator<AgentEvent, AgentMessage[], undefined> {
    begin();
    for (;;) {
      const arrived = new Promise<void>((resolve) => {
        wake = resolve;
      });
      if (events.length === 0 && !left) await arrived;
      const event = events.shift();
      if (event) yield event;
      else if (left) return begin();
      taken();
    }
  }
  const send = (input: PullInput) => {
    if (input.type === "abort") stop();
    else if (input.type === "permission") onPermission?.(input);
    else if (input.type === "steer") agent.steer(input.message);
    else if (input.type === "follow_up") agent.followUp(input.message);
    else void agent.interrupt(input.message);
  };
  const generator = generate();
  const { next, return: end, throw: fail } = generator;
  return Object.assign(generator, {
    // Input must not wait for the event that is being waited for.
    next(input?: PullInput) {
      if (input && !left) send(input);
      pulled = true;
      return next.call(generator);
    },
    return: (value: AgentMessage[] | PromiseLike<AgentMessage[]>) => leave().then(() => end.call(generator, value)),
    throw: (error: unknown) => leave().then(() => fail.call(generator, error)),
    async result() {
      await tick();
      draining = true;
      taken();
      return begin();
    },
  });
}
