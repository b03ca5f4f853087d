import { classifyEvent, type ErrorOrigin } from "../../errors/classify.ts";
import type { Tool } from "../../protocol/tool.ts";
import type { AssistantAssembler } from "../../stream/assembler.ts";
import { isRecord } from "../../stream/json.ts";
import { parseFrame, type SseFrame } from "../../stream/sse.ts";
import { StreamError } from "../../stream/stream-error.ts";
import type { Decoder } from "../exchange.ts";
import { type Finish, finishOf } from "./finish.ts";
import { MISTRAL_THINKING, ReasoningSorter } from "./reasoning.ts";
import { ToolCallSorter } from "./tool-calls.ts";
import { usageOf } from "./usage.ts";

export interface DecoderOptions {
  assembler: AssistantAssembler;
  origin: ErrorOrigin;
  /** The tools of the request, by whose own names the calls are told. */
  tools: readonly Tool[];
  /** False for servers that never send a finish reason: then the end of the body is the end of the answer. */
  finishReason?: boolean | undefined;
}

/** Reads the chunks of a chat completion into block operations, tolerant of what compatible servers make of them. */
export class CompletionsDecoder implements Decoder {
  readonly #assembler: AssistantAssembler;
  readonly #origin: ErrorOrigin;
  readonly #wantsFinish: boolean;
  readonly #calls: ToolCallSorter;
  readonly #reasoning: ReasoningSorter;
  #text: number | undefined;
  #finish: Finish | undefined;
  #marker = false;
  #outputTokens = 0;
  #state: Decoder["state"] = "open";

  constructor({ assembler, origin, tools, finishReason = true }: DecoderOptions) {
    this.#assembler = assembler;
    this.#origin = origin;
    this.#wantsFinish = finishReason;
    this.#calls = new ToolCallSorter(assembler, tools);
    this.#reasoning = new ReasoningSorter(assembler);
  }

  get state(): Decoder["state"] {
    return this.#state;
  }

  frame(frame: SseFrame): void {
    // The usual case first: there are tens of thousands of them.
    if (frame.event === undefined && frame.data.startsWith("{")) this.#chunk(parseFrame(frame.data));
    else if (frame.data.trim() === "[DONE]") {
      this.#marker = true;
      this.#state = "done";
    } else if (frame.event === "error") {
      this.#fail(frame.data);
    } else if (frame.data.trim() !== "") {
      this.#chunk(parseFrame(frame.data));
    }
  }

  whole(value: unknown): void {
    this.#marker = true;
    this.#chunk(value);
  }

  end(): void {
    if (this.#assembler.ended) return;
    this.#state = "done";
    const tolerated = this.#marker || !this.#wantsFinish;
    if (!this.#finish && (!tolerated || this.#isEmpty())) {
      throw new StreamError("early_end", "The answer ended before it was whole: no finish reason came");
    }
    this.#closeOthers();
    this.#reasoning.close();
    this.#calls.finish();
    const finish = this.#finish ?? { end: "stop" };
    if ("failure" in finish) this.#assembler.fail(finish.failure);
    else if (finish.end === "length" && this.#isEmpty() && this.#outputTokens === 0) this.#assembler.fail(NO_ROOM);
    else this.#assembler.finish(finish.end);
  }

  #chunk(chunk: unknown): void {
    // A keep-alive of some servers.
    if (chunk === null) return;
    if (!isRecord(chunk) || isError(chunk)) {
      this.#fail(chunk);
      return;
    }
    this.#assembler.start(typeof chunk.id === "string" && chunk.id !== "" ? chunk.id : undefined);
    const choice = Array.isArray(chunk.choices) ? chunk.choices.find(isRecord) : undefined;
    const usage = usageOf(chunk, choice);
    if (usage) {
      this.#outputTokens = usage.output;
      this.#assembler.setUsage(usage);
    }
    if (choice?.error) this.#fail(choice);
    else if (choice) this.#choice(choice);
  }

  #choice(choice: Record<string, unknown>): void {
    // A whole message counts when no pieces of it came: some servers send it behind them once more.
    const delta = isRecord(choice.delta) ? choice.delta : this.#isEmpty() ? choice.message : undefined;
    if (isRecord(delta)) this.#delta(delta);
    if (typeof choice.finish_reason === "string" && choice.finish_reason !== "") {
      this.#finish = finishOf(choice.finish_reason);
      if (this.#state === "open") this.#state = "finished";
    }
  }

  #delta(delta: Record<string, unknown>): void {
    this.#reasoning.delta(delta, this.#beforeReasoning);
    if (typeof delta.content === "string") this.#addText(delta.content);
    else if (delta.content) for (const part of [delta.content].flat()) this.#part(part);
    if (typeof delta.refusal === "string") this.#addText(delta.refusal);
    const calls = toolCallsOf(delta);
    if (calls.length > 0) {
      this.#closeOthers();
      this.#reasoning.close();
      this.#calls.delta(calls);
    }
  }

  /** A part of Mistral's content lists; compatible servers send plain texts among them. */
  #part(part: unknown): void {
    if (typeof part === "string") this.#addText(part);
    if (!isRecord(part)) return;
    if (typeof part.text === "string") this.#addText(part.text);
    const thoughts = Array.isArray(part.thinking) ? part.thinking : [part.thinking];
    for (const thought of thoughts) {
      const text = isRecord(thought) ? thought.text : thought;
      if (typeof text === "string" && text !== "") this.#reasoning.plain(MISTRAL_THINKING, text, this.#beforeReasoning);
    }
  }

  #addText(text: string): void {
    if (text === "") return;
    if (this.#text === undefined) {
      this.#reasoning.close();
      this.#calls.openNamed();
      this.#text = this.#assembler.openText();
    }
    this.#assembler.textDelta(this.#text, text);
  }

  readonly #beforeReasoning = (): void => {
    this.#closeOthers();
    this.#calls.openNamed();
  };

  /** Ends the text block. Calls stay open, since pieces of several may interleave. */
  #closeOthers(): void {
    if (this.#text !== undefined) this.#assembler.closeBlock(this.#text);
    this.#text = undefined;
  }

  #isEmpty(): boolean {
    return this.#assembler.message.content.length === 0 && !this.#calls.any;
  }

  #fail(value: unknown): void {
    this.#state = "done";
    this.#calls.finish();
    this.#assembler.fail(classifyEvent(value, this.#origin));
  }
}

/** An answer without a single token that hit the limit: the prompt left no room (R116). */
const NO_ROOM = {
  kind: "overflow",
  message: "The model had no room to answer: the prompt fills its context window",
} as const;

function isError(chunk: Record<string, unknown>): boolean {
  if (chunk.error || chunk.object === "error" || chunk.type === "error") return true;
  return chunk.choices === undefined && (typeof chunk.message === "string" || chunk.detail !== undefined);
}

const NONE: readonly unknown[] = [];

/** The calls of a delta, the one of the older `function_call` field among them. */
function toolCallsOf(delta: Record<string, unknown>): readonly unknown[] {
  if (!delta.tool_calls && !delta.function_call) return NONE;
  if (Array.isArray(delta.tool_calls)) return delta.tool_calls;
  if (isRecord(delta.tool_calls)) return [delta.tool_calls];
  return isRecord(delta.function_call) ? [{ index: "function_call", function: delta.function_call }] : NONE;
}
