import type { AgentMessage, AgentTool, BashExecutionMessage, CustomMessage } from "@tau/agent";
import type { ImageContent, JsonSchema, Model, StreamFn } from "@tau/llm";
import type { PromptSections } from "@tau/llm/head";
import { persistedQueues } from "../store/queue-record.ts";
import type { Accepted } from "./command.ts";
import type { AgentSessionOptions } from "./options.ts";
import type { QueuedTexts, QueueKind } from "./queues/session-queue.ts";
import { isEmptyMessage, type UserInput, userMessage } from "./queues/user-message.ts";
import { ChainRunner } from "./run/chain-runner.ts";
import { DataAnswer } from "./run/data-answer.ts";
import { SessionError } from "./session-error.ts";
import { assembleSession, type SessionParts } from "./session-parts.ts";

/** What goes with the text of a prompt. */
export interface PromptOptions {
  readonly images?: readonly ImageContent[];
  /** Which queue the prompt goes to during a run. Absent: it is refused then. */
  readonly streamingBehavior?: "steer" | "followUp";
  /**
   * JSON Schema of the answer: the outcome then has `data` that fits it, or says why there is none. Refused during a run.
   */
  readonly schema?: JsonSchema;
}

/** What of a session can be changed that is not plain JSON. What is left out stays. */
export interface SessionChanges {
  /** Holds from the next run on; the model is told what changed. */
  readonly tools?: readonly AgentTool[];
  /** Holds from the next run on; the model is told what changed. */
  readonly systemPrompt?: string | { readonly sections: PromptSections };
  /** A model that need not be known by name; holds from the next turn on. */
  readonly model?: Model;
  /** Whether somebody answers permission requests, from the next one on. */
  readonly attended?: boolean;
}

/** What asks for an answer: no change of the prompt, and nothing that the user keeps from the model. */
const isHeard = (message: AgentMessage) =>
  message.role !== "system" && !(message.role === "bashExecution" && message.excludeFromContext);

const QUEUES: Record<"steer" | "followUp", QueueKind> = { steer: "steering", followUp: "followUp" };

/** A session from the inside: its parts, and the rules on what may be done to them when. Commands work on this. */
export class SessionCore {
  readonly options: AgentSessionOptions;
  readonly parts: SessionParts;
  readonly runner: ChainRunner;
  #disposal: Promise<void> | undefined;

  constructor(options: AgentSessionOptions, streamFn: StreamFn) {
    this.options = options;
    this.parts = assembleSession(options, streamFn, {
      limitHit: (hit) => this.runner.limitHit(hit),
      said: (message) => this.runner.note(message),
      answer: () => this.runner.active?.answer,
      frontEndFailed: () => void this.runner.abort("The front end failed."),
    });
    this.runner = new ChainRunner(this.parts);
    this.parts.queues.resume(persistedQueues(options.store));
    if (options.snapshot) this.parts.snapshots.restore(options.snapshot);
  }

  /** @throws SessionError after `dispose` */
  checkOpen(): void {
    if (this.#disposal) throw new SessionError("disposed");
  }

  /** Starts a run with a new message, or queues it when `streamingBehavior` says so. @throws SessionError */
  accept(input: UserInput, { images, streamingBehavior, schema }: PromptOptions = {}): Accepted {
    const message = this.#message(input, images);
    const taken = this.parts.head.tools.map(({ name }) => name);
    const answer = schema === undefined ? undefined : new DataAnswer(schema, taken);
    if (!this.runner.active) return this.runner.begin({ type: "prompt", messages: [message] }, answer);
    if (!streamingBehavior || answer) throw new SessionError("busy");
    return this.runner.queue(QUEUES[streamingBehavior], message);
  }

  /** Starts a run without a new message (law R2). @throws SessionError */
  continue(): Accepted {
    this.checkOpen();
    if (this.runner.active) throw new SessionError("busy");
    const last = this.parts.link.messages.findLast(isHeard);
    const answered = last?.role === "assistant" && !last.content.some((block) => block.type === "toolCall");
    const nothing = !last || answered;
    if (nothing && this.parts.queues.size === 0) throw new SessionError("nothing_to_continue");
    return this.runner.begin(nothing ? { type: "prompt", messages: [] } : { type: "continue" });
  }

  /** Queues a message. Without a run it waits for the next prompt and goes in front of it. @throws SessionError */
  say(kind: QueueKind, input: UserInput, images?: readonly ImageContent[]): Accepted {
    return this.runner.queue(kind, this.#message(input, images));
  }

  /** Stops reply or batch and continues with this message (R10); starts a run when there is none. @throws SessionError */
  interrupt(input: UserInput, images?: readonly ImageContent[]): Accepted {
    const message = this.#message(input, images);
    return this.runner.active
      ? this.runner.interrupt(message)
      : this.runner.begin({ type: "prompt", messages: [message] });
  }

  /** Stops everything and resolves when it has settled, with what is still queued (Q5). */
  async abort(reason?: string): Promise<QueuedTexts> {
    await this.runner.abort(reason);
    return this.parts.queues.texts();
  }

  /** Puts a message that is not a prompt into the transcript; during a run it waits for its end. @throws SessionError */
  add(message: BashExecutionMessage | CustomMessage): void {
    this.checkOpen();
    this.runner.note(message);
  }

  setModel(model: Model): Model {
    this.checkOpen();
    this.parts.models.setModel(model);
    return model;
  }

  /** The model of a name, or undefined. */
  async findModel(provider: string, modelId: string): Promise<Model | undefined> {
    const { parts, options } = this;
    if (options.findModel) return options.findModel(provider, modelId);
    const known = [parts.models.model, ...parts.settings.fallbackModels];
    return known.find((model) => model.provider === provider && model.id === modelId);
  }

  configure({ tools, systemPrompt, model, attended }: SessionChanges): void {
    const { head, guard } = this.parts;
    const answer = this.runner.active?.answer;
    if (tools) head.wantTools(answer ? [...tools, answer.tool] : tools);
    if (systemPrompt !== undefined) head.wantPrompt(systemPrompt);
    if (model) this.setModel(model);
    if (attended !== undefined) guard.attended = attended;
  }

  /** Aborts, settles, disposes the tools, closes the store. Further calls wait for the first one. */
  dispose(): Promise<void> {
    this.#disposal ??= this.#dispose();
    return this.#disposal;
  }

  async #dispose(): Promise<void> {
    await Promise.all([this.runner.close(), this.parts.userCommands.abort()]);
    try {
      await this.options.onDispose?.();
    } finally {
      this.options.store.close();
    }
  }

  #message(input: UserInput, images: readonly ImageContent[] = []) {
    this.checkOpen();
    // A key of the agent's own is not part of a task, whatever file it came from (R143).
    const message = this.parts.mask(userMessage(input, images, this.parts.now()));
    if (isEmptyMessage(message)) throw new SessionError("empty_prompt");
    return message;
  }
}
