import { nestedTooDeep } from "../../stream/arguments.ts";
import { isRecord, parseJson, writeJson } from "../../stream/json.ts";

type Json = Record<string, unknown>;

/** What is kept of an output message besides its text: its id and, of newer models, whether it is the final answer. */
export interface MessageMark {
  id?: string;
  phase?: string;
}

/** The mark as pi writes it into `textSignature`; undefined when there is nothing to keep. */
export function messageSignature({ id, phase }: MessageMark): string | undefined {
  if (!id && !phase) return undefined;
  return JSON.stringify({ v: 1, id: id ?? "", ...(phase ? { phase } : {}) });
}

/** The mark of a signature; older sessions of pi have the id alone in it. */
export function readMessageSignature(signature: string | undefined): MessageMark {
  if (!signature) return {};
  const value = signature.startsWith("{") ? parseJson(signature) : { id: signature };
  if (!isRecord(value)) return {};
  const { id, phase } = value;
  return {
    ...(typeof id === "string" && id !== "" ? { id } : {}),
    ...(typeof phase === "string" && phase !== "" ? { phase } : {}),
  };
}

/**
 * A reasoning item as pi writes it into `thinkingSignature`: its JSON. An item without encrypted content is
 * kept without its text, which the block has already (R040). Undefined for an item that holds nothing.
 */
export function reasoningSignature(item: Json): string | undefined {
  const { status: _status, ...rest } = item;
  const kept = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== null && value !== ""));
  if (isFilled(item.encrypted_content)) return writeJson(kept);
  if (hasParts(item.content)) return writeJson({ ...kept, summary: [], content: [] });
  return hasParts(item.summary) ? writeJson({ ...kept, summary: [] }) : undefined;
}

/**
 * The item of a signature with the text of its block, as it goes back; undefined when the signature is none of this
 * API or the item lacks the id that the API wants.
 */
export function reasoningItem(signature: string | undefined, text: string): Json | undefined {
  const item = signature?.startsWith("{") ? parseJson(signature) : undefined;
  if (!isRecord(item) || item.type !== "reasoning" || !isFilled(item.id) || nestedTooDeep(item)) return undefined;
  const { status: _status, content, ...rest } = item;
  if (isFilled(item.encrypted_content)) {
    return { ...rest, summary: item.summary ?? [], ...(hasParts(content) ? { content } : {}) };
  }
  if (text.trim() === "") return undefined;
  return Array.isArray(content)
    ? { ...rest, summary: [], content: [{ type: "reasoning_text", text }] }
    : { ...rest, summary: [{ type: "summary_text", text }] };
}

const isFilled = (value: unknown): value is string => typeof value === "string" && value !== "";
const hasParts = (value: unknown): value is unknown[] => Array.isArray(value) && value.length > 0;
