import type { StreamFn } from "@tau/llm";
import { Agent } from "./agent.ts";
import type { AgentContext, AgentLoopConfig } from "./config.ts";
import type { AgentEvent } from "./events.ts";
import type { AgentMessage } from "./messages.ts";
import { tick } from "./waiting.ts";

/** What a consumer of the pull form sends in with `next(input)` (law L6). Permissions are answered by the `onPermission` given. */
export type PullInput =
  | { type: "steer" | "follow_up" | "interrupt"; message: string | AgentMessage }
  | { type: "permission"; id: string; decision: "allow" | "deny"; reason?: string }
  | { type: "abort" };

/** A run as an async generator that takes input, and as a stream with `result()`. */
export interface AgentStream extends AsyncGenerator<AgentEvent, AgentMessage[], PullInput | undefined> {
  /** All messages of the run. When nobody iterates the run goes on by itself. */
  result(): Promise<AgentMessage[]>;
}

type PullConfig = AgentLoopConfig & { onPermission?(answer: Extract<PullInput, { type: "permission" }>): void };

/** The pull form of `runAgentLoop` (law L6): the run waits for the consumer's pull; leaving early aborts it and waits for it. */
export function agentLoop(
  prompts: AgentMessage[],
  context: AgentContext,
  config: PullConfig,
  signal?: AbortSignal,
  streamFn?: StreamFn,
): AgentStream {
  return pull((agent) => agent.prompt(prompts), { context, config, signal, streamFn });
}

/** The pull form of `runAgentLoopContinue`. */
export function agentLoopContinue(
  context: AgentContext,
  config: PullConfig,
  signal?: AbortSignal,
  streamFn?: StreamFn,
): AgentStream {
  return pull((agent) => agent.continue(), { context, config, signal, streamFn });
}

interface PullOptions {
  context: AgentContext;
  config: PullConfig;
  signal: AbortSignal | undefined;
  streamFn: StreamFn | undefined;
}

function pull(start: (agent: Agent) => Promise<void>, { context, config, signal, streamFn }: PullOptions): AgentStream {
  const { model, thinkingLevel = "off", ...options } = config;
  const agent = new Agent({ ...options, initialState: { ...context, model, thinkingLevel }, streamFn });
  const waiting: AgentEvent[] = [];
  let messages: AgentMessage[] = [];
  let wake: () => void = () => undefined;
  /** Lets the run go on: the consumer has taken the newest event and comes for more. */
  let taken: () => void = () => undefined;
  let run: Promise<AgentMessage[]> | undefined;
  let over = false;
  let pulled = false;
  let draining = false;

  agent.subscribe((event) => {
    if (event.type === "agent_end") messages = event.messages;
    if (over || (draining && !pulled)) return undefined;
    waiting.push(event);
    wake();
    if (draining) return undefined;
    return new Promise((resolve) => {
      taken = resolve;
    });
  });
  const stop = () => agent.abort();
  const finish = () => {
    over = true;
    signal?.removeEventListener("abort", stop);
    wake();
  };
  const begin = () => {
    if (run) return run;
    run = start(agent).then(() => messages);
    run.then(finish, finish);
    if (signal?.aborted) stop();
    signal?.addEventListener("abort", stop);
    return run;
  };
  const leave = async () => {
    over = true;
    agent.abort();
    waiting.length = 0;
    taken();
    wake();
    await run?.catch(() => undefined);
  };
  async function* events(): AsyncGenerator<AgentEvent, AgentMessage[], undefined> {
    const ended = begin();
    try {
      for (;;) {
        while (waiting.length === 0 && !over)
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
        const event = waiting.shift();
        if (!event) return await ended;
        yield event;
        taken();
      }
    } finally {
      await leave();
    }
  }
  const send = (input: PullInput) => {
    if (over) return;
    if (input.type === "abort") agent.abort();
    else if (input.type === "permission") config.onPermission?.(input);
    else if (input.type === "steer") agent.steer(input.message);
    else if (input.type === "follow_up") agent.followUp(input.message);
    else void agent.interrupt(input.message);
  };
  const generator = events();
  const native = {
    next: generator.next.bind(generator),
    return: generator.return.bind(generator),
    throw: generator.throw.bind(generator),
  };
  return Object.assign(generator, {
    // Input must not wait for the event that is being waited for.
    next(input?: PullInput) {
      if (input) send(input);
      pulled = true;
      return native.next();
    },
    async return(value: AgentMessage[] | PromiseLike<AgentMessage[]>) {
      await leave();
      return native.return(value);
    },
    async throw(error: unknown) {
      await leave();
      return native.throw(error);
    },
    async result() {
      await tick();
      draining = true;
      taken();
      return begin();
    },
  });
}
