import type { StreamFn } from "@tau/llm";
import { Agent } from "./agent.ts";
import type { AgentContext, AgentLoopConfig, RunInput } from "./config.ts";
import { ownMessage } from "./convert.ts";
import type { AgentEvent } from "./events.ts";
import type { AgentMessage } from "./messages.ts";
import { tick } from "./tick.ts";

/** What a consumer of the pull form sends in with `next(input)`. */
export type PullInput =
  | { type: "steer" | "follow_up" | "interrupt"; message: string | AgentMessage }
  | PermissionInput
  | { type: "abort" };
type PermissionInput = { type: "permission"; id: string; decision: "allow" | "deny"; reason?: string };

/** A run as an async generator that takes input, and as a stream: `result()` gives its messages, also when nobody iterates. */
export interface AgentStream extends AsyncGenerator<AgentEvent, AgentMessage[], PullInput | undefined> {
  result(): Promise<AgentMessage[]>;
}

/** `onPermission` hears the permissions that come in; what `beforeToolCall` makes of them is its business. */
export type PullConfig = AgentLoopConfig & { onPermission?(answer: PermissionInput): void };

/** The pull form of `runAgentLoop`: the run waits for the consumer's pull; leaving early aborts it and waits for it. */
export function agentLoop(
  prompts: AgentMessage[],
  context: AgentContext,
  config: PullConfig,
  signal?: AbortSignal,
  streamFn?: StreamFn,
): AgentStream {
  return pull({ context, config, signal, streamFn, start: (agent) => agent.prompt(prompts) });
}

/** The pull form of `runAgentLoopContinue`. */
export function agentLoopContinue(
  context: AgentContext,
  config: PullConfig,
  signal?: AbortSignal,
  streamFn?: StreamFn,
): AgentStream {
  return pull({ context, config, signal, streamFn, start: (agent) => agent.continue() });
}

type Pulled = Omit<RunInput, "emit"> & { config: PullConfig; start: (agent: Agent) => Promise<void> };

function pull(pulled: Pulled): AgentStream {
  const { model, thinkingLevel = "off", onPermission, queues: _, ...options } = pulled.config;
  const initialState = { ...pulled.context, model, thinkingLevel };
  const agent = new Agent({ ...options, initialState, streamFn: pulled.streamFn });
  const handover = new Handover();
  let run: Promise<AgentMessage[]> | undefined;
  const begin = () => {
    run ??= drive(pulled, agent, handover).finally(() => handover.close());
    run.catch(() => undefined); // `next` and `result` reject with it
    return run;
  };
  async function* generate(): AsyncGenerator<AgentEvent, AgentMessage[], undefined> {
    begin();
    for (let event = await handover.take(); event; event = await handover.take()) yield event;
    return begin();
  }
  const generator = generate();
  const { next, return: end, throw: fail } = generator;
  /** Aborts the run and waits for it. */
  const leave = async (last: () => ReturnType<typeof end>) => {
    handover.close();
    agent.abort();
    run ??= Promise.resolve([]);
    await run.catch(() => undefined);
    return last();
  };
  return Object.assign(generator, {
    // Input must not wait for the event that is being waited for.
    next(input?: PullInput) {
      try {
        if (input?.type === "permission") onPermission?.(input);
        else if (input) send(agent, input);
      } catch (error) {
        return leave(() => fail.call(generator, error));
      }
      handover.pulled = true;
      return next.call(generator);
    },
    return: (value: AgentMessage[] | PromiseLike<AgentMessage[]>) => leave(() => end.call(generator, value)),
    throw: (error: unknown) => leave(() => fail.call(generator, error)),
    result: () => handover.drain().then(begin),
  });
}

/** Runs the agent; its events go to the handover. */
async function drive({ config, signal, start }: Pulled, agent: Agent, handover: Handover): Promise<AgentMessage[]> {
  const stop = () => agent.abort();
  agent.subscribe((event) => handover.give(event));
  const run = start(agent);
  signal?.addEventListener("abort", stop);
  if (signal?.aborted) stop();
  await run.finally(() => signal?.removeEventListener("abort", stop));
  // What is left in the queues goes back to who can take it (Q4, Q5).
  const { steering, followUp } = agent.clearAllQueues();
  if (steering.length > 0) config.returnMessages?.(steering, "steering");
  if (followUp.length > 0) config.returnMessages?.(followUp, "follow_up");
  return handover.messages;
}

function send(agent: Agent, input: Exclude<PullInput, PermissionInput>): void {
  if (input.type === "abort") agent.abort();
  else if (input.type === "follow_up") agent.followUp(input.message);
  // What is not a message has to be refused here and now.
  else if (input.type === "interrupt" && agent.state.isStreaming)
    void agent.interrupt(ownMessage(input.message, { now: Date.now }));
  else agent.steer(input.message);
}

/** Hands events over one by one: the giver waits until the taker comes for the next one. */
class Handover {
  readonly #events: AgentEvent[] = [];
  /** What the run came to. */
  messages: AgentMessage[] = [];
  pulled = false;
  #draining = false;
  #closed = false;
  #wake: () => void = () => undefined;
  #taken: () => void = () => undefined;

  give(event: AgentEvent): void | Promise<void> {
    if (event.type === "agent_end") this.messages = event.messages;
    if (this.#closed || (this.#draining && !this.pulled)) return;
    this.#events.push(event);
    this.#wake();
    if (this.#draining) return;
    return new Promise<void>((resolve) => {
      this.#taken = resolve;
    });
  }

  async take(): Promise<AgentEvent | undefined> {
    this.#taken();
    if (this.#events.length === 0 && !this.#closed)
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    return this.#events.shift();
  }

  /** From now on nobody waits for a pull; a taker who comes with the same turn of the event loop still sees all events. */
  async drain(): Promise<void> {
    await tick();
    this.#draining = true;
    this.#taken();
  }

  /** No more events come, or are wanted. */
  close(): void {
    this.#closed = true;
    this.#taken();
    this.#wake();
  }
}
