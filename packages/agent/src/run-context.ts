import type { StreamFn, SystemMessage } from "@tau/llm";
import { declaration } from "@tau/llm/head";
import { CallIds } from "./calls.ts";
import type { AgentContext, AgentLoopConfig, Emit, FirstHead, RunInput } from "./config.ts";
import { Cutoff } from "./cutoff.ts";
import type { AgentMessage } from "./messages.ts";
import { PairRepair } from "./pair-repair.ts";
import { hookQueues, type QueueSource } from "./queue.ts";
import { RepeatedCalls } from "./repetition.ts";
import { serialEmit } from "./serial-emit.ts";
import { Told } from "./told.ts";
import { defined } from "./values.ts";

/** One run: what its parts share. */
export class RunContext {
  /** As `prepareNextTurn` left it. */
  config: AgentLoopConfig;
  /** The run's own copies (B9); messages are appended here. */
  context: AgentContext;
  /** Another one after an interrupt (R10). */
  cutoff: Cutoff;
  /** Ids of calls that are taken in the transcript. */
  ids: CallIds;
  told: Told;
  /** What each request begins with; empty when the transcript begins with a system message (B8). */
  readonly firstHead: FirstHead;
  /** Never fails; see `serialEmit`. */
  readonly emit: Emit;
  /** Unix time in milliseconds. */
  readonly now: () => number;
  readonly queues: QueueSource;
  readonly streamFn: StreamFn;
  /** All messages of this run (T4). */
  readonly added: AgentMessage[] = [];
  readonly repeated = new RepeatedCalls();
  readonly pairs = new PairRepair();

  /** @throws Error without a `streamFn` */
  constructor({ context, config, emit, signal, streamFn }: RunInput) {
    if (!streamFn) throw new Error("No model to ask: pass a streamFn or install one with setDefaultStreamFn.");
    this.streamFn = streamFn;
    this.config = config;
    this.now = () => config.now?.() ?? Date.now();
    this.queues = config.queues ?? hookQueues(config);
    this.context = copyContext(context);
    this.firstHead = isLed(context) ? {} : firstHead(config.head ?? context);
    this.cutoff = new Cutoff(signal ?? new AbortController().signal, config.limits?.abortGraceMs);
    this.emit = serialEmit(emit);
    this.ids = new CallIds(this.context.messages);
    this.told = new Told(this.firstHead, this.context.messages);
  }

  /** Continues with another context (B9). */
  useContext(context: AgentContext): void {
    this.context = copyContext(context);
    this.ids = new CallIds(this.context.messages);
    this.told = new Told(isLed(context) ? {} : this.firstHead, this.context.messages);
  }

  /** Continues under another signal, after an interrupt (R10). */
  useSignal(signal: AbortSignal): void {
    this.cutoff.close();
    this.cutoff = new Cutoff(signal, this.config.limits?.abortGraceMs);
  }

  /** What the model has to be told before the next request, if anything (B8). */
  announcement(): SystemMessage[] {
    const change = this.told.change(this.context, this.now());
    return change ? [change] : [];
  }
}

/** The transcript brings its own head. */
const isLed = ({ messages }: AgentContext): boolean => messages[0]?.role === "system";

const firstHead = ({ systemPrompt, tools }: FirstHead): FirstHead =>
  defined({ systemPrompt, tools: tools?.map(declaration) });

/** A copy whose lists the receiver may change. */
export function copyContext(context: AgentContext): AgentContext {
  const copy: AgentContext = { ...context, messages: context.messages.slice() };
  if (context.tools) copy.tools = context.tools.slice();
  return copy;
}
