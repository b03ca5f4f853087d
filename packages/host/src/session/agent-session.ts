import type { AgentMessage } from "@tau/agent";
import type { ImageContent, JsonSchema, StreamFn } from "@tau/llm";
import type { Accepted, CommandData, CommandOf, CommandType } from "./command.ts";
import type { SessionSnapshot } from "./context/snapshot.ts";
import { describeState } from "./describe-session.ts";
import { type PullInput, pullEvents } from "./events/pull.ts";
import type { SessionEvent } from "./events/session-event.ts";
import type { AgentSessionOptions } from "./options.ts";
import type { QueuedTexts } from "./queues/session-queue.ts";
import type { UserInput } from "./queues/user-message.ts";
import type { DataOutcome, RunOutcome } from "./run/outcome.ts";
import { type PromptOptions, type SessionChanges, SessionCore } from "./session-core.ts";
import type { SessionState } from "./session-state.ts";

export interface SubscribeOptions {
  /** The run is stopped when this listener fails: a front end that died must not leave it working unseen. */
  readonly essential?: boolean;
}

/** Runs a command; the table of commands is not known here, it is given when a session is put together. */
export type RunCommand = <T extends CommandType>(core: SessionCore, command: CommandOf<T>) => Promise<CommandData[T]>;

/** The inside of a session, for the rooms of this package that work on it. */
export let coreOf: (session: AgentSession) => SessionCore;

/**
 * One conversation: the agent with everything around it that a product needs. Disk first, then listeners;
 * every accepted prompt ends with exactly one `agent_settled`. What has no method here is a command of `dispatch`.
 */
export class AgentSession {
  readonly #core: SessionCore;
  readonly #runCommand: RunCommand;

  static {
    coreOf = (session) => session.#core;
  }

  /** @internal Use `createAgentSession`. */
  constructor(options: AgentSessionOptions, streamFn: StreamFn, runCommand: RunCommand) {
    this.#core = new SessionCore(options, streamFn);
    this.#runCommand = runCommand;
  }

  /** How it stands now. */
  get state(): SessionState {
    return describeState(this.#core.parts, this.#core.runner);
  }

  /** What was said, without prompt and tools. */
  get messages(): AgentMessage[] {
    return this.#core.parts.link.messages;
  }

  /** Gets every event, awaited, from the next one on. Returns a function that ends the subscription. */
  subscribe(listener: (event: SessionEvent) => void | Promise<void>, options: SubscribeOptions = {}): () => void {
    return this.#core.parts.hub.subscribe(listener, options.essential);
  }

  /**
   * Runs a command of docs/rpc.md. Resolves with its data; for one that starts a run that is when the run has begun.
   * Rejects with a SessionError, and changes nothing, when it is refused.
   */
  dispatch<T extends CommandType>(command: CommandOf<T>): Promise<CommandData[T]> {
    return this.#runCommand(this.#core, command);
  }

  /** Changes tools, system prompt and the like. @throws SessionError after `dispose` */
  configure(changes: SessionChanges): void {
    this.#core.configure(changes);
  }

  /**
   * Starts a run and resolves when the session has settled, with how it ended. Rejects, and changes nothing, when it
   * is refused: during a run without `streamingBehavior`, when it is empty, or after `dispose`. With a `schema` the
   * outcome has the answer as `data`, of the type that the schema stands for.
   */
  prompt<Data>(input: UserInput, options: PromptOptions & { readonly schema: JsonSchema }): Promise<DataOutcome<Data>>;
  prompt(input: UserInput, options?: PromptOptions): Promise<RunOutcome>;
  async prompt(input: UserInput, options: PromptOptions = {}): Promise<RunOutcome> {
    this.#core.accept(input, options);
    return this.#core.runner.settled();
  }

  /** Queues a message for the next request; without a run it goes in front of the next prompt. @throws SessionError */
  steer(input: UserInput, images?: readonly ImageContent[]): Accepted {
    return this.#core.say("steering", input, images);
  }

  /**
   * Queues a message for when the agent would stop; without a run it goes in front of the next prompt.
   * @throws SessionError
   */
  followUp(input: UserInput, images?: readonly ImageContent[]): Accepted {
    return this.#core.say("followUp", input, images);
  }

  /**
   * Stops everything that runs and resolves when it has settled, with what is still queued: it goes back to the user,
   * or in front of the next prompt.
   */
  abort(reason?: string): Promise<QueuedTexts> {
    return this.#core.abort(reason);
  }

  /** The pull form: the same events as `subscribe` gives; `next(input)` steers, interrupts, answers, aborts. */
  run(input: UserInput, options: PromptOptions = {}): AsyncGenerator<SessionEvent, RunOutcome, PullInput | undefined> {
    return pullEvents({
      subscribe: (listener) => this.subscribe(listener),
      start: () => this.prompt(input, options),
      input: (given) => takeInput(this.#core, given),
      stop: () => this.abort(),
    });
  }

  /** The whole session as plain JSON, at any moment; `createAgentSession({snapshot})` takes it over. */
  snapshot(): SessionSnapshot {
    return this.#core.parts.snapshots.take();
  }

  /** Aborts, settles, disposes the tools, closes the store. Further calls wait for the first one. */
  dispose(): Promise<void> {
    return this.#core.dispose();
  }
}

function takeInput(core: SessionCore, input: PullInput): void {
  switch (input.type) {
    case "permission": {
      const { type: _type, id, ...answer } = input;
      core.parts.questions.respond(id, answer);
      return;
    }
    case "abort":
      void core.abort();
      return;
    case "steer":
      core.say("steering", input.message, input.images);
      return;
    case "follow_up":
      core.say("followUp", input.message, input.images);
      return;
    case "interrupt":
      core.interrupt(input.message, input.images);
  }
}
