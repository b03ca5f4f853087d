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
  const waiting: AgentEvent[] = [];
  let messages: AgentMessage[] = [];
  let run: Promise<AgentMessage[]> | undefined;
  let state: "new" | "pulled" | "left" = "new";
  let draining = false;
  let wake: () => void = () => undefined;
  /** Lets the run go on: the consumer has taken the newest event and comes for more. */
  let taken: () => void = () => undefined;
  agent.subscribe((event) => {
    if (event.type === "agent_end") messages = event.messages;
    if (state === "left" || (draining && state === "new")) return undefined;
    waiting.push(event);
    wake();
    if (draining) return undefined;
    return new Promise((resolve) => {
      taken = resolve;
    });
  });
  const stop = () => agent.abort();
  const begin = () => {
    if (run) return run;
    run = start(agent).then(() => messages);
    const over = () => {
      signal?.removeEventListener("abort", stop);
      state = "left";
      wake();
    };
    run.then(over, over);
    signal?.addEventListener("abort", stop);
    if (signal?.aborted) stop();
    return run;
  };
  const leave = async () => {
    state = "left";
    waiting.length = 0;
    stop();
    taken();
    wake();
    await run?.catch(() => undefined);
  };
  const pulled = async (resolve: () => void) => {
    wake = resolve;
  };
  async function* events(): AsyncGenerator<AgentEvent, AgentMessage[], undefined> {
    const ended = begin();
    for (;;) {
      while (waiting.length === 0 && state !== "left") await new Promise<void>(pulled);
      const event = waiting.shift();
      if (!event) return await ended;
      yield event;
      taken();
    }
  }
  const send = (input: PullInput) => {
    if (state === "left") return;
    if (input.type === "abort") stop();
    else if (input.type === "permission") onPermission?.(input);
    else if (input.type === "steer") agent.steer(input.message);
    else if (input.type === "follow_up") agent.followUp(input.message);
    else void agent.interrupt(input.message);
  };
  const generator = events();
  const { next, return: end, throw: fail } = generator;
  return Object.assign(generator, {
    // Input must not wait for the event that is being waited for.
    next(input?: PullInput) {
      if (input) send(input);
      if (state === "new") state = "pulled";
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
