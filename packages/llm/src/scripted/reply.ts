import type { ErrorKind } from "../protocol/errors.ts";
import type { WireEvent } from "../protocol/events.ts";
import type {
  AssistantContent,
  AssistantMessage,
  StopReason,
  TextContent,
  ThinkingContent,
} from "../protocol/message.ts";
import type { Model } from "../protocol/model.ts";
import type { Usage } from "../protocol/usage.ts";
import { readArguments } from "../stream/arguments.ts";

/** A tool call of a script. Without an id it gets one that is the same in every run: `call_<step>_<block>`, from 1. */
export interface ScriptToolCall {
  type: "toolCall";
  name: string;
  arguments: Record<string, unknown>;
  id?: string;
  /** What goes over the wire instead of the arguments as JSON: for broken arguments. */
  rawArguments?: string;
  thoughtSignature?: string;
}

/** A string stands for a text block. */
export type ScriptBlock = string | TextContent | ThinkingContent | ScriptToolCall;

/** How a provider can misbehave; see `playReply` for what each one does. */
export type ScriptFault =
  | "throw"
  | "reject"
  | "hang"
  | "hang_midway"
  | "never_start"
  | "end_without_done"
  | "throw_midway";

/** One answer of the scripted model. Everything but `gate` is plain JSON. */
export interface ScriptReply {
  content: ScriptBlock[];
  /** Default: `error` with an errorMessage, `toolUse` with a tool call, else `stop`. */
  stopReason?: StopReason;
  usage?: Partial<Omit<Usage, "cost">> & { cost?: Partial<Usage["cost"]> };
  errorMessage?: string;
  errorKind?: ErrorKind;
  errorDetails?: NonNullable<AssistantMessage["errorDetails"]>;
  /** Characters in a delta. Default 64. */
  chunkSize?: number;
  /** Milliseconds before each event; for runs of a whole process that must be caught midway. Default 0. */
  delayMs?: number;
  /** Played as they are instead of events made from the content: for interleaved blocks and broken orders. */
  events?: WireEvent[];
  fault?: ScriptFault;
  /** Awaited before the answer begins. */
  gate?: Promise<unknown>;
  /** Plays on as if nothing was when the request is aborted. */
  ignoreAbort?: boolean;
}

/** Where a reply is played: its step counts from 0. */
export interface ReplyPlace {
  model: Model;
  step: number;
  /** Unix time in milliseconds. */
  timestamp: number;
}

const DEFAULT_CHUNK = 64;

/** A text block. */
export const text = (value: string): TextContent => ({ type: "text", text: value });

/** A thinking block, with the signature that a provider would give it. */
export const thinking = (value: string, signature?: string): ThinkingContent => ({
  type: "thinking",
  thinking: value,
  ...(signature === undefined ? {} : { thinkingSignature: signature }),
});

/** A tool call block; see `ScriptToolCall` for the id. */
export const toolCall = (name: string, args: Record<string, unknown> = {}, id?: string): ScriptToolCall => ({
  type: "toolCall",
  name,
  arguments: args,
  ...(id === undefined ? {} : { id }),
});

/** A reply of these blocks. For more than content: `{ ...reply("hi"), chunkSize: 1 }`. */
export const reply = (...content: ScriptBlock[]): ScriptReply => ({ content });

/** A reply that fails: `errorKind` defaults to unknown. */
export const failure = (errorMessage: string, errorKind: ErrorKind = "unknown"): ScriptReply => ({
  content: [],
  stopReason: "error",
  errorMessage,
  errorKind,
});

/** A block of a reply with its shorthands filled in, and the text that streams for it. */
export interface ScriptedBlock {
  block: AssistantContent;
  text: string;
}

/** The blocks of a reply; `step` goes into the ids of calls that have none. */
export function replyBlocks(source: Pick<ScriptReply, "content">, step: number): ScriptedBlock[] {
  return source.content.map((block, index) => {
    if (typeof block === "string") return { block: text(block), text: block };
    if (block.type !== "toolCall") return { block, text: block.type === "text" ? block.text : block.thinking };
    const { rawArguments, id = `call_${step + 1}_${index + 1}`, ...rest } = block;
    if (rawArguments === undefined) return { block: { ...rest, id }, text: JSON.stringify(rest.arguments) };
    return { block: { ...rest, id, ...readArguments(rawArguments) }, text: rawArguments };
  });
}

/** Token counts of a reply; what the script leaves out is 0. */
function replyUsage(usage: ScriptReply["usage"] = {}): Usage {
  const { input = 0, output = 0, cacheRead = 0, cacheWrite = 0, cost = {} } = usage;
  return {
    input,
    output,
    cacheRead,
    cacheWrite,
    totalTokens: usage.totalTokens ?? input + output + cacheRead + cacheWrite,
    cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0, ...cost },
  };
}

/** The stop reason that a reply ends with. */
export function replyStopReason(source: ScriptReply): StopReason {
  if (source.stopReason !== undefined) return source.stopReason;
  if (source.errorMessage !== undefined) return "error";
  const calls = source.content.some((block) => typeof block !== "string" && block.type === "toolCall");
  return calls ? "toolUse" : "stop";
}

/** The whole message that a reply becomes. */
function replyMessage(source: ScriptReply, place: ReplyPlace): AssistantMessage {
  const stopReason = replyStopReason(source);
  const failed = stopReason === "error" || stopReason === "aborted";
  const errorKind = source.errorKind ?? (failed ? (stopReason === "aborted" ? "aborted" : "unknown") : undefined);
  return {
    role: "assistant",
    content: replyBlocks(source, place.step).map(({ block }) => block),
    api: place.model.api,
    provider: place.model.provider,
    model: place.model.id,
    usage: replyUsage(source.usage),
    stopReason,
    ...(source.errorMessage === undefined ? {} : { errorMessage: source.errorMessage }),
    ...(errorKind === undefined ? {} : { errorKind }),
    ...(source.errorDetails === undefined ? {} : { errorDetails: source.errorDetails }),
    timestamp: place.timestamp,
  };
}

/** Cuts a text into pieces of `size` UTF-16 units, never inside a surrogate pair. */
export function* chunks(value: string, size: number = DEFAULT_CHUNK): Generator<string> {
  let start = 0;
  while (start < value.length) {
    let end = Math.min(value.length, start + Math.max(1, size));
    const last = value.charCodeAt(end - 1);
    if (end < value.length && last >= 0xd800 && last <= 0xdbff) end++;
    yield value.slice(start, end);
    start = end;
  }
}

function* blockEvents(scripted: ScriptedBlock, contentIndex: number, size: number | undefined): Generator<WireEvent> {
  const { block, text: content } = scripted;
  if (block.type === "toolCall") {
    yield { type: "toolcall_start", contentIndex, id: block.id, name: block.name };
    for (const delta of chunks(content, size)) yield { type: "toolcall_delta", contentIndex, delta };
    yield { type: "toolcall_end", contentIndex, toolCall: block };
    return;
  }
  yield { type: `${block.type}_start`, contentIndex };
  for (const delta of chunks(content, size)) yield { type: `${block.type}_delta`, contentIndex, delta };
  yield { type: `${block.type}_end`, contentIndex, content };
}

/** The event that ends the stream of this message. */
function endEvent(message: AssistantMessage): WireEvent {
  const { stopReason } = message;
  return stopReason === "error" || stopReason === "aborted"
    ? { type: "error", reason: stopReason, error: message }
    : { type: "done", reason: stopReason, message };
}

/** The events of a reply (law S1), block after block, or the ones the script gives itself. */
export function* replyEvents(source: ScriptReply, place: ReplyPlace): Generator<WireEvent> {
  if (source.events) {
    yield* source.events;
    return;
  }
  yield { type: "start" };
  for (const [index, block] of replyBlocks(source, place.step).entries()) {
    yield* blockEvents(block, index, source.chunkSize);
  }
  yield endEvent(replyMessage(source, place));
}
