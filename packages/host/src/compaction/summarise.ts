import type { AssistantMessage, Model, StreamFn, StreamOptions, ThinkingLevel, Usage } from "@tau/llm";
import { SUMMARY_SYSTEM_PROMPT, type SummaryInput, summaryPrompt } from "./summary-prompt.ts";
import { clip } from "./transcript-text.ts";

/** Characters of one token, low on purpose: the request must fit whatever the script. */
const CHARS_A_TOKEN = 2.5;
/** Tokens of a summary. */
const SUMMARY_TOKENS = 8_000;
/** Shares of the window that the record and the notes so far may fill in one request. */
const RECORD_SHARE = 0.4;
const NOTES_SHARE = 0.2;
const TRIES = 2;

/** How the writer of a summary is reached. */
export interface SummaryModel {
  readonly model: Model;
  readonly thinkingLevel: ThinkingLevel;
  readonly streamFn: StreamFn;
  readonly streamOptions: Omit<StreamOptions, "signal">;
  readonly signal: AbortSignal;
  readonly waitToRetry?: WaitToRetry;
}

/**
 * Asked when a request failed in passing: waits, and gives whether it is to be made again. Without it the request is
 * made again once, at once.
 * @param attempt counts the tries that failed, from 1
 */
export type WaitToRetry = (reply: AssistantMessage, attempt: number) => Promise<boolean>;

export interface Summary {
  readonly text: string;
  /** Of all requests that were made for it; undefined when the provider counted nothing. */
  readonly usage?: Usage;
}

/**
 * Has a model summarise a record. A record that does not fit one request is taken in pieces, each piece bringing the
 * notes of those before up to date.
 * @param pieces the record, message by message
 * @throws when a request failed, was aborted or gave no text
 */
export async function summarise(
  pieces: readonly string[],
  input: Omit<SummaryInput, "conversation">,
  by: SummaryModel,
): Promise<Summary> {
  const chars = by.model.contextWindow * CHARS_A_TOKEN;
  const notesLimit = Math.floor(chars * NOTES_SHARE);
  let notes = input.previous;
  let usage: Usage | undefined;
  for (const conversation of packPieces(pieces, Math.floor(chars * RECORD_SHARE))) {
    const previous = notes ? { previous: clip(notes, notesLimit) } : {};
    const reply = await ask(summaryPrompt({ ...input, ...previous, conversation }), by);
    notes = textOf(reply);
    usage = addUsage(usage, reply.usage);
  }
  if (!notes) throw new Error("there is nothing to summarise");
  return { text: notes, ...(usage ? { usage } : {}) };
}

/** Joins pieces up to `limit` characters a pack; a longer piece is split. Linear. */
export function packPieces(pieces: readonly string[], limit: number): string[] {
  const packs: string[] = [];
  let pack = "";
  for (const piece of pieces.flatMap((text) => splitText(text, limit))) {
    if (pack && pack.length + piece.length + 2 > limit) {
      packs.push(pack);
      pack = "";
    }
    pack = pack ? `${pack}\n\n${piece}` : piece;
  }
  return pack ? [...packs, pack] : packs;
}

function splitText(text: string, limit: number): string[] {
  const parts: string[] = [];
  for (let at = 0; at < text.length; at += limit) parts.push(text.slice(at, at + limit).toWellFormed());
  return parts;
}

async function ask(prompt: string, by: SummaryModel): Promise<AssistantMessage> {
  for (let attempt = 1; ; attempt++) {
    const reply = await request(prompt, by);
    if (by.signal.aborted || reply.stopReason === "aborted") throw new Error("the compaction was aborted");
    const failed = reply.stopReason === "error";
    if (!failed && textOf(reply)) return reply;
    const again = failed ? await isTriedAgain(reply, attempt, by) : attempt < TRIES;
    if (!again)
      throw new Error(failed ? (reply.errorMessage ?? "the request failed") : "the model gave an empty summary");
  }
}

async function isTriedAgain(reply: AssistantMessage, attempt: number, { waitToRetry }: SummaryModel): Promise<boolean> {
  if (reply.errorKind !== "retryable") return false;
  return waitToRetry ? waitToRetry(reply, attempt) : attempt < TRIES;
}

async function request(prompt: string, { model, thinkingLevel, streamFn, streamOptions, signal }: SummaryModel) {
  const context = {
    systemPrompt: SUMMARY_SYSTEM_PROMPT,
    messages: [{ role: "user" as const, content: prompt, timestamp: 0 }],
  };
  const maxTokens = Math.min(SUMMARY_TOKENS, model.maxTokens, Math.floor(model.contextWindow * NOTES_SHARE));
  const stream = await streamFn(model, context, { ...streamOptions, thinkingLevel, maxTokens, signal });
  return stream.result();
}

function textOf({ content }: AssistantMessage): string {
  return content
    .map((block) => (block.type === "text" ? block.text : ""))
    .join("")
    .trim();
}

/** Both together; `before` is undefined when there is nothing yet. */
export function addUsage(before: Usage | undefined, more: Usage): Usage {
  if (!before) return more;
  const { cost } = before;
  return {
    input: before.input + more.input,
    output: before.output + more.output,
    cacheRead: before.cacheRead + more.cacheRead,
    cacheWrite: before.cacheWrite + more.cacheWrite,
    totalTokens: before.totalTokens + more.totalTokens,
    cost: {
      input: cost.input + more.cost.input,
      output: cost.output + more.cost.output,
      cacheRead: cost.cacheRead + more.cost.cacheRead,
      cacheWrite: cost.cacheWrite + more.cost.cacheWrite,
      total: cost.total + more.cost.total,
    },
  };
}
