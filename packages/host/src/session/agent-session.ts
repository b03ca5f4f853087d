import type { AgentMessage, AgentTool, BashExecutionMessage, CustomMessage } from "@tau/agent";
import type { ImageContent, Model, StreamFn, ThinkingLevel } from "@tau/llm";
import type { PromptSections } from "@tau/llm/head";
import type { CompactionResult } from "../compaction/compactor.ts";
import { type Navigation, renameSession } from "../store/navigate.ts";
import { persistedQueues } from "../store/queue-record.ts";
import type { UserCommandResult } from "../tools/bash/user-command-io.ts";
import type { Command } from "./command.ts";
import { type CommandResult, runCommand } from "./commands.ts";
import { goTo, type Leaving } from "./context/navigation.ts";
import type { SessionSnapshot } from "./context/snapshot.ts";
import { type PullInput, pullEvents } from "./events/pull.ts";
import type { SessionEvent } from "./events/session-event.ts";
import type { AgentSessionOptions, QueueMode } from "./options.ts";
import type { PermissionAnswer } from "./permission/permission.ts";
import type { QueuedTexts, QueueKind } from "./queues/session-queue.ts";
import { isEmptyMessage, type UserInput, userMessage } from "./queues/user-message.ts";
import { ChainRunner } from "./run/chain-runner.ts";
import type { RunOutcome } from "./run/outcome.ts";
import { SessionError } from "./session-error.ts";
import { assembleSession, type SessionParts } from "./session-parts.ts";
import { describeState, describeStats, type SessionState, type SessionStatistics } from "./session-state.ts";
import type { UserCommandOptions } from "./user-commands.ts";

/** What goes with the text of a prompt. */
export interface PromptOptions {
  readonly images?: readonly ImageContent[];
  /** Which queue the prompt goes to during a run. Absent: it is refused then. */
  readonly streamingBehavior?: "steer" | "followUp";
}

/** What happened to a message that was accepted. */
export interface Accepted {
  disposition: "started" | "queued";
}

export interface SubscribeOptions {
  /** The run is stopped when this listener fails: a front end that died must not leave it working unseen (R011). */
  readonly essential?: boolean;
}

/** What asks for an answer: no change of the prompt, and nothing that the user keeps from the model. */
const isHeard = (message: AgentMessage) =>
  message.role !== "system" && !(message.role === "bashExecution" && message.excludeFromContext);

const QUEUES: Record<"steer" | "followUp", QueueKind> = { steer: "steering", followUp: "followUp" };

/**
 * One conversation: the agent with everything around it that a product needs. Disk first, then listeners (law L5);
 * every accepted prompt ends with exactly one `agent_settled` (law E6).
 */
export class AgentSession {
  readonly cwd: string;
  readonly #options: AgentSessionOptions;
  readonly #parts: SessionParts;
  readonly #runner: ChainRunner;
  #disposal: Promise<void> | undefined;

  /** Use `createAgentSession`. */
  constructor(options: AgentSessionOptions, streamFn: StreamFn) {
    this.cwd = options.cwd;
    this.#options = options;
    this.#parts = assembleSession(options, streamFn, {
      limitHit: (hit) => this.#runner.limitHit(hit),
      said: (message) => this.#runner.note(message),
      frontEndFailed: () => void this.#runner.abort("The front end failed."),
    });
    this.#runner = new ChainRunner(this.#parts);
    this.#parts.queues.resume(persistedQueues(options.store));
  }

  /** How the newest chain ended; undefined before the first one. */
  get lastOutcome(): RunOutcome | undefined {
    return this.#runner.lastOutcome;
  }

  /** What was said, without prompt and tools. */
  get messages(): AgentMessage[] {
    return this.#parts.link.messages;
  }

  get model(): Model {
    return this.#parts.models.model;
  }

  get state(): SessionState {
    return describeState(this.#parts, this.#runner);
  }

  /** Sums over the session and its newest turn, and how full the context is. */
  stats(): SessionStatistics {
    return describeStats(this.#parts);
  }

  /** Gets every event, awaited, from the next one on (law L1). Returns the way out. */
  subscribe(listener: (event: SessionEvent) => void | Promise<void>, options: SubscribeOptions = {}): () => void {
    return this.#parts.hub.subscribe(listener, options.essential);
  }

  /** Runs a command as data; rejects with a SessionError for one that is refused. */
  dispatch(command: Command): Promise<CommandResult> {
    return runCommand(this, command);
  }

  /**
   * Starts a run and resolves when the session has settled, with how it ended. Rejects, and changes nothing, when it
   * is refused: during a run without `streamingBehavior`, when it is empty, or after `dispose`.
   */
  async prompt(input: UserInput, options: PromptOptions = {}): Promise<RunOutcome> {
    this.accept(input, options);
    return this.#runner.settled();
  }

  /** As `prompt`, but returns at once. @throws SessionError */
  accept(input: UserInput, { images, streamingBehavior }: PromptOptions = {}): Accepted {
    const message = this.#message(input, images);
    if (!this.#runner.active) return this.#runner.begin({ type: "prompt", messages: [message] });
    if (!streamingBehavior) throw new SessionError("busy");
    return this.#runner.queue(QUEUES[streamingBehavior], message);
  }

  /** Goes on without a new message, and resolves when settled (law R2). */
  async continue(): Promise<RunOutcome> {
    this.acceptContinue();
    return this.#runner.settled();
  }

  /** As `continue`, but returns at once. @throws SessionError */
  acceptContinue(): Accepted {
    this.#checkOpen();
    if (this.#runner.active) throw new SessionError("busy");
    const last = this.messages.findLast(isHeard);
    const answered = last?.role === "assistant" && !last.content.some((block) => block.type === "toolCall");
    const nothing = !last || answered;
    if (nothing && this.#parts.queues.size === 0) throw new SessionError("nothing_to_continue");
    return this.#runner.begin(nothing ? { type: "prompt", messages: [] } : { type: "continue" });
  }

  /** A message for the next request (Q1); starts a run when there is none. @throws SessionError */
  steer(input: UserInput, images?: readonly ImageContent[]): Accepted {
    return this.#say("steering", input, images);
  }

  /** A message for when the agent would stop (Q3); starts a run when there is none. @throws SessionError */
  followUp(input: UserInput, images?: readonly ImageContent[]): Accepted {
    return this.#say("followUp", input, images);
  }

  /** Stops reply or batch and goes on with this message (R10); starts a run when there is none. @throws SessionError */
  interrupt(input: UserInput, images?: readonly ImageContent[]): Accepted {
    const message = this.#message(input, images);
    return this.#runner.active
      ? this.#runner.interrupt(message)
      : this.#runner.begin({ type: "prompt", messages: [message] });
  }

  /**
   * Stops whatever goes on and resolves when it has settled, with what is still queued: it goes back to the user, or
   * in front of the next prompt (Q5).
   */
  async abort(reason?: string): Promise<QueuedTexts> {
    await this.#runner.abort(reason);
    return this.#parts.queues.texts();
  }

  /** Takes the queued messages out, e.g. back into an editor. What is on its way into the transcript stays. */
  takeQueued(): QueuedTexts {
    return this.#parts.queues.handBack();
  }

  /** Resolves when nothing goes on any more. Rejects inside a listener (law L4). */
  async waitForSettled(): Promise<void> {
    if (this.#parts.hub.inListener) throw new SessionError("in_listener");
    await this.#runner.quiet();
  }

  /** Holds from the next turn on. */
  setModel(model: Model): Model {
    this.#checkOpen();
    this.#parts.models.setModel(model);
    return model;
  }

  /** As `setModel`, by name. Rejects with a SessionError for a model that is not known. */
  async chooseModel(provider: string, modelId: string): Promise<Model> {
    const model = await this.#findModel(provider, modelId);
    if (!model) throw new SessionError("unknown_model", `${provider}/${modelId}`);
    return this.setModel(model);
  }

  setThinkingLevel(level: ThinkingLevel): void {
    this.#checkOpen();
    this.#parts.models.setLevel(level);
  }

  /** Holds from the next run on; the model is told of the change then (law B8). */
  setTools(tools: readonly AgentTool[]): void {
    this.#parts.link.tools = tools;
  }

  /** Holds from the next run on; the model is told what changed (law B8). */
  setSystemPrompt(prompt: string | { sections: PromptSections }): void {
    this.#parts.head.want(prompt, this.#parts.link.tools);
  }

  setQueueMode(kind: QueueKind, mode: QueueMode): void {
    const { agent } = this.#parts.link;
    if (kind === "steering") agent.steeringMode = mode;
    else agent.followUpMode = mode;
  }

  setAutoRetry(enabled: boolean): void {
    this.#parts.retries.enabled = enabled;
  }

  setAutoCompaction(enabled: boolean): void {
    this.#parts.compaction.enabled = enabled;
  }

  /** Ends the wait for a retry; the run ends with the error. False when there was no wait. */
  abortRetry(): boolean {
    return this.#parts.retries.giveUp(this.#runner.active);
  }

  /** Compacts now. Rejects during a run, and when it failed or there was nothing to compact. */
  compact(instructions?: string): Promise<CompactionResult> {
    this.#checkOpen();
    return this.#runner.compact(instructions);
  }

  /** Sets the display name; an empty one takes it away. */
  setName(name: string): void {
    this.#checkOpen();
    renameSession(this.#options.store, name);
    const now = this.#options.store.name();
    this.#parts.tell({ type: "session_info_changed", ...(now !== undefined && { name: now }) });
  }

  /** Answers an open question (P3). False when there is none of this id: it came too late. */
  respondPermission(id: string, answer: PermissionAnswer): boolean {
    return this.#parts.questions.respond(id, answer);
  }

  /**
   * Goes to another point of the tree; model and thinking level are those of that point, as after a resume (R111).
   * Rejects during a run (R106), and where it is when the summary that was asked for could not be made.
   * @param left `{summarize: true}` has the model sum up what is left behind, at the head of the new branch; or a
   *   summary that is there already
   */
  async navigate(entryId: string, left?: Leaving): Promise<Navigation> {
    this.#checkOpen();
    const findModel = (provider: string, modelId: string) => this.#findModel(provider, modelId);
    return goTo({ parts: this.#parts, runner: this.#runner, findModel }, entryId, left);
  }

  /**
   * Puts a message that is no prompt into the transcript: a command that the user ran, a note of an extension. It is
   * sent with the next request. During a run it waits for its end.
   */
  addMessage(message: BashExecutionMessage | CustomMessage): void {
    this.#checkOpen();
    this.#runner.note(message);
  }

  /** Runs a shell command for the user, also during a run, and notes it. Rejects when it could not be started. */
  async runUserCommand(command: string, options?: UserCommandOptions): Promise<UserCommandResult> {
    this.#checkOpen();
    return this.#parts.userCommands.run(command, options);
  }

  /** Ends the commands of `runUserCommand`; resolves when they have ended. */
  abortUserCommands(): Promise<void> {
    return this.#parts.userCommands.abort();
  }

  /** Whether somebody answers permission requests, from the next one on. */
  setAttended(attended: boolean): void {
    this.#parts.guard.attended = attended;
  }

  /** The pull form (law L6): the same events as `subscribe` gives; `next(input)` steers, interrupts, answers, aborts. */
  run(input: UserInput, options: PromptOptions = {}): AsyncGenerator<SessionEvent, RunOutcome, PullInput | undefined> {
    return pullEvents({
      subscribe: (listener) => this.subscribe(listener),
      start: () => this.prompt(input, options),
      input: (given) => this.#takeInput(given),
      stop: () => this.abort(),
    });
  }

  /** The whole session as plain JSON, at any moment (law R7). */
  snapshot(): SessionSnapshot {
    return this.#runner.snapshot(this.#options.saveState);
  }

  /** Takes over a snapshot of the same session. @throws SessionError during a run */
  restore(snapshot: SessionSnapshot): void {
    if (this.#runner.active) throw new SessionError("busy");
    this.#runner.restore(snapshot);
  }

  /** Aborts, settles, disposes the tools, closes the store. Further calls wait for the first one. */
  dispose(): Promise<void> {
    this.#disposal ??= this.#dispose();
    return this.#disposal;
  }

  async #dispose(): Promise<void> {
    await Promise.all([this.#runner.close(), this.#parts.userCommands.abort()]);
    try {
      await this.#options.onDispose?.();
    } finally {
      this.#options.store.close();
    }
  }

  #say(kind: QueueKind, input: UserInput, images: readonly ImageContent[] | undefined): Accepted {
    const message = this.#message(input, images);
    return this.#runner.active
      ? this.#runner.queue(kind, message)
      : this.#runner.begin({ type: "prompt", messages: [message] });
  }

  #message(input: UserInput, images: readonly ImageContent[] = []) {
    this.#checkOpen();
    // A key of the agent's own is no part of a task, whatever file it came from (R143).
    const message = this.#parts.mask(userMessage(input, images, this.#parts.now()));
    if (isEmptyMessage(message)) throw new SessionError("empty_prompt");
    return message;
  }

  #checkOpen(): void {
    if (this.#disposal) throw new SessionError("disposed");
  }

  async #findModel(provider: string, modelId: string): Promise<Model | undefined> {
    const known = [this.model, ...this.#parts.settings.fallbackModels];
    if (this.#options.findModel) return this.#options.findModel(provider, modelId);
    return known.find((model) => model.provider === provider && model.id === modelId);
  }

  #takeInput(input: PullInput): void {
    switch (input.type) {
      case "permission": {
        const { type: _type, id, ...answer } = input;
        this.respondPermission(id, answer);
        return;
      }
      case "abort":
        void this.abort();
        return;
      case "steer":
        this.steer(input.message, input.images);
        return;
      case "follow_up":
        this.followUp(input.message, input.images);
        return;
      case "interrupt":
        this.interrupt(input.message, input.images);
    }
  }
}
