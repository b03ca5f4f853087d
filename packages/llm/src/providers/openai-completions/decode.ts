import type { ErrorOrigin } from "../../errors/classify.ts";
import type { Tool } from "../../protocol/tool.ts";
import type { AssistantAssembler } from "../../stream/assembler.ts";
import { isRecord } from "../../stream/json.ts";
import type { SseFrame } from "../../stream/sse.ts";
import { StreamError } from "../../stream/stream-error.ts";
import { type Decoder, PATIENCE } from "../exchange.ts";
import { CallNames } from "../reply/call-names.ts";
import { errorIn } from "../reply/error-value.ts";
import { readFrame } from "../reply/frame-reading.ts";
import { endReply, failReply, type ReplyEnd } from "../reply/reply-end.ts";
import { ReplyText, type TextBlock } from "../reply/reply-text.ts";
import { Choices, type OtherChoice, saidIn } from "./choices.ts";
import { finishOf } from "./finish.ts";
import { MISTRAL_THINKING, ReasoningSorter } from "./reasoning.ts";
import { ToolCallSorter } from "./tool-calls.ts";
import { usageOf } from "./usage.ts";

type Json = Record<string, unknown>;

export interface DecoderOptions {
  assembler: AssistantAssembler;
  origin: ErrorOrigin;
  /** The tools of the request, by whose own names the calls are told. */
  tools: readonly Tool[];
  /** False for servers that never send a finish reason: then the end of the body is the end of the answer. */
  finishReason?: boolean | undefined;
}

/** Fields that only a chunk has. */
const CHUNK_FIELDS = ["choices", "usage", "timings", "x_groq"];

/** Reads the chunks of a chat completion into block operations, tolerant of what compatible servers make of them. */
export class CompletionsDecoder implements Decoder {
  readonly #assembler: AssistantAssembler;
  readonly #origin: ErrorOrigin;
  readonly #wantsFinish: boolean;
  readonly #choices = new Choices();
  readonly #calls: ToolCallSorter;
  readonly #reasoning: ReasoningSorter;
  readonly #texts: ReplyText;
  #text: TextBlock | undefined;
  #finish: ReplyEnd | undefined;
  #marker = false;
  #outputTokens = 0;
  #state: Decoder["state"] = "open";
  #patienceMs: number = PATIENCE.early;

  constructor({ assembler, origin, tools, finishReason = true }: DecoderOptions) {
    this.#assembler = assembler;
    this.#origin = origin;
    this.#wantsFinish = finishReason;
    const names = new CallNames(tools, "call_");
    this.#calls = new ToolCallSorter(assembler, names);
    this.#reasoning = new ReasoningSorter(assembler);
    this.#texts = new ReplyText(assembler, names);
  }

  get state(): Decoder["state"] {
    return this.#state;
  }

  get patienceMs(): number {
    return this.#patienceMs;
  }

  frame(frame: SseFrame): boolean {
    const reading = readFrame(frame);
    if (reading.type === "event") return this.#chunk(reading.value);
    if (reading.type === "error") this.#fail(reading.value);
    if (reading.type === "marker") {
      this.#marker = true;
      this.#state = "done";
    }
    return reading.type !== "nothing";
  }

  whole(value: unknown): void {
    this.#marker = true;
    if (isRecord(value)) this.#chunk(value);
    else this.#fail(value);
  }

  end(): void {
    if (this.#assembler.ended) return;
    this.#state = "done";
    const tolerated = this.#marker || !this.#wantsFinish;
    this.#takeOthers();
    if (!this.#finish && (!tolerated || this.#isEmpty())) {
      throw new StreamError("early_end", "The answer ended before it was whole: no finish reason came");
    }
    this.#closeBlocks();
    endReply(this.#assembler, this.#texts.finish(this.#finish ?? { end: "stop" }), this.#outputTokens);
  }

  cut(): void {
    this.#texts.cut();
    this.#closeBlocks();
  }

  /** Gives whether the chunk said something. */
  #chunk(chunk: Json): boolean {
    const error = errorIn(chunk, CHUNK_FIELDS);
    if (error !== undefined) {
      this.#fail(error);
      return true;
    }
    this.#assembler.start(typeof chunk.id === "string" && chunk.id !== "" ? chunk.id : undefined);
    const choices = this.#choices.firstOf(chunk.choices);
    const usage = usageOf(chunk, choices[0]);
    if (usage) {
      this.#outputTokens = usage.output;
      this.#assembler.setUsage(usage);
      if (this.#patienceMs === PATIENCE.usage) this.#patienceMs = PATIENCE.closing;
    }
    let speaks = usage !== undefined;
    for (const choice of choices) {
      if (choice.error) {
        this.#fail(choice);
        return true;
      }
      speaks = this.#choice(choice) || speaks;
    }
    return speaks;
  }

  #choice(choice: Json): boolean {
    const delta = saidIn(choice, this.#isEmpty());
    const speaks = delta !== undefined && this.#delta(delta);
    const finished = typeof choice.finish_reason === "string" && choice.finish_reason !== "";
    if (finished) {
      this.#finish = finishOf(choice.finish_reason);
      if (this.#state === "open") this.#state = "finished";
      // Where more may follow: some servers give a finish reason with each chunk, or with the first one (R207).
      this.#patienceMs = speaks || this.#isEmpty() ? PATIENCE.early : PATIENCE.usage;
    }
    return speaks || finished;
  }

  /** Gives whether the delta said something. */
  #delta(delta: Json): boolean {
    let speaks = this.#reasoning.delta(delta, this.#beforeReasoning);
    if (typeof delta.content === "string") speaks = this.#addText(delta.content) || speaks;
    else if (delta.content) for (const part of [delta.content].flat()) speaks = this.#part(part) || speaks;
    if (typeof delta.refusal === "string") speaks = this.#addText(delta.refusal) || speaks;
    const calls = toolCallsOf(delta);
    if (calls.length === 0) return speaks;
    this.#closeText();
    this.#reasoning.close();
    this.#calls.delta(calls);
    return true;
  }

  /** A part of Mistral's content lists; compatible servers send plain texts among them. */
  #part(part: unknown): boolean {
    if (typeof part === "string") return this.#addText(part);
    if (!isRecord(part)) return false;
    let speaks = typeof part.text === "string" && this.#addText(part.text);
    const thoughts = Array.isArray(part.thinking) ? part.thinking : [part.thinking];
    for (const thought of thoughts) {
      const text = isRecord(thought) ? thought.text : thought;
      if (typeof text !== "string" || text === "") continue;
      this.#reasoning.plain(MISTRAL_THINKING, text, this.#beforeReasoning);
      speaks = true;
    }
    return speaks;
  }

  #addText(text: string): boolean {
    if (text === "") return false;
    if (!this.#text) {
      this.#reasoning.close();
      this.#calls.openNamed();
      this.#text = this.#texts.open();
    }
    this.#text.add(text);
    return true;
  }

  readonly #beforeReasoning = (): void => {
    this.#closeText();
    this.#calls.openNamed();
  };

  /** Ends the text block. Calls stay open, since pieces of several may interleave. */
  #closeText(): void {
    this.#text?.close();
    this.#text = undefined;
  }

  #closeBlocks(): void {
    this.#closeText();
    this.#reasoning.finish();
    this.#calls.finish();
  }

  /** What the other choices have that the first one lacks: all of it, or the calls. */
  #takeOthers(): void {
    const others = this.#choices.others();
    const speaking = others.find(({ deltas }) => deltas.some(saysSomething));
    if (speaking && this.#isEmpty()) {
      for (const delta of speaking.deltas) this.#delta(delta);
      if (speaking.finishReason !== undefined) this.#finish = finishOf(speaking.finishReason);
    }
    if (this.#calls.any) return;
    this.#closeText();
    for (const [place, { deltas }] of callingOf(others).entries()) {
      for (const delta of deltas) this.#calls.delta(toolCallsOf(delta).map((call) => ofChoice(call, place)));
    }
  }

  #isEmpty(): boolean {
    return this.#assembler.blockCount === 0 && !this.#calls.any;
  }

  #fail(value: unknown): void {
    this.#state = "done";
    this.cut();
    failReply(this.#assembler, value, this.#origin);
  }
}

const hasCalls = (delta: Json) => toolCallsOf(delta).length > 0;
const saysSomething = (delta: Json) => hasCalls(delta) || Boolean(delta.content || delta.refusal);

/** Of other choices those whose calls count: all that hold nothing but calls, else the first with one. */
function callingOf(others: readonly OtherChoice[]): readonly OtherChoice[] {
  const calling = others.filter(({ deltas }) => deltas.some(hasCalls));
  const silent = calling.filter(({ deltas }) => !deltas.some(({ content }) => Boolean(content)));
  return silent.length > 0 ? silent : calling.slice(0, 1);
}

/** A call of another choice: its index counts within that one. */
function ofChoice(call: unknown, place: number): unknown {
  if (!isRecord(call) || call.index === undefined || call.index === null) return call;
  return { ...call, index: `${place} ${String(call.index)}` };
}

const NONE: readonly unknown[] = [];

/** The calls of a delta, the one of the older `function_call` field among them. */
function toolCallsOf(delta: Json): readonly unknown[] {
  if (!delta.tool_calls && !delta.function_call) return NONE;
  if (Array.isArray(delta.tool_calls)) return delta.tool_calls;
  if (isRecord(delta.tool_calls)) return [delta.tool_calls];
  return isRecord(delta.function_call) ? [{ index: "function_call", function: delta.function_call }] : NONE;
}
