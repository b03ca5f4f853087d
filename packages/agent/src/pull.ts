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
  const handover = new Handover(agent, start, signal);
  const generator = handover.generate();
  const { next, return: end, throw: fail } = generator;
  return Object.assign(generator, {
    // Input must not wait for the event that is being waited for.
    next(input?: PullInput) {
      if (input?.type === "permission") onPermission?.(input);
      else if (input) handover.send(input);
      handover.pulled = true;
      return next.call(generator);
    },
    return: (value: AgentMessage[] | PromiseLike<AgentMessage[]>) =>
      handover.leave().then(() => end.call(generator, value)),
    throw: (error: unknown) => handover.leave().then(() => fail.call(generator, error)),
    result: () => handover.result(),
  });
}

/** Gives the events of an agent over one by one: the run goes on when the consumer comes for the next one. */
class Handover {
  readonly #agent: Agent;
  readonly #start: () => Promise<AgentMessage[]>;
  readonly #events: AgentEvent[] = [];
  pulled = false;
  #draining = false;
  #left = false;
  #messages: AgentMessage[] = [];
  #run: Promise<AgentMessage[]> | undefined;
  #wake: () => void = () => undefined;
  /** Lets the run go on. */
  #taken: () => void = () => undefined;
  constructor(agent: Agent, start: (agent: Agent) => Promise<void>, signal: AbortSignal | undefined) {
    const stop = () => agent.abort();
    this.#agent = agent;
    this.#start = async () => {
      const over = start(agent);
      signal?.addEventListener("abort", stop);
      if (signal?.aborted) stop();
      await over.finally(() => {
        signal?.removeEventListener("abort", stop);
        this.#left = true;
        this.#wake();
      });
      return this.#messages;
    };
    agent.subscribe((event) => this.#give(event));
  }

  send(input: Exclude<PullInput, { type: "permission" }>): void {
    if (this.#left) return;
    if (input.type === "abort") this.#agent.abort();
    else if (input.type === "steer") this.#agent.steer(input.message);
    else if (input.type === "follow_up") this.#agent.followUp(input.message);
    else void this.#agent.interrupt(input.message);
  }

  async *generate(): AsyncGenerator<AgentEvent, AgentMessage[], undefined> {
    this.#begin();
    for (;;) {
      const arrived = new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      if (this.#events.length === 0 && !this.#left) await arrived;
      const event = this.#events.shift();
      if (event) yield event;
      else if (this.#left) return this.#begin();
      this.#taken();
    }
  }

  /** Aborts the run and waits for it. */
  async leave(): Promise<void> {
    this.#left = true;
    this.#events.length = 0;
    this.#agent.abort();
    this.#taken();
    this.#wake();
    await this.#run?.catch(() => undefined);
  }

  /** From now on nothing waits for a pull; a consumer who comes with the same turn of the event loop still sees all events. */
  async result(): Promise<AgentMessage[]> {
    await tick();
    this.#draining = true;
    this.#taken();
    return this.#begin();
  }

  #begin(): Promise<AgentMessage[]> {
    this.#run ??= this.#start();
    this.#run.catch(() => undefined); // `next` and `result` tell it
    return this.#run;
  }

  #give(event: AgentEvent): void | Promise<void> {
    if (event.type === "agent_end") this.#messages = event.messages;
    if (this.#left || (this.#draining && !this.pulled)) return;
    this.#events.push(event);
    this.#wake();
    const consumed = new Promise<void>((resolve) => {
      this.#taken = resolve;
    });
    return this.#draining ? undefined : consumed;
  }
}
