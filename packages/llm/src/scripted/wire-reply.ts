import type { Usage } from "../protocol/usage.ts";
import { replyStopReason, type ScriptBlock, type ScriptReply } from "./reply.ts";

/**
 * How a server can misbehave. `afterDeltas` counts content deltas that are sent before (default 0):
 * `status` answers with this status and body; `raw` answers 200 with this body; `no_response` never sends a header;
 * `headers_only` sends nothing behind the headers; `stall` sends no more but keeps the connection; `reset` tears it
 * down; `half_frame` ends cleanly in the middle of a frame; `no_end` ends cleanly without the frames that end an
 * answer; `error` sends the API's error frame inside the 200, then ends.
 */
export type WireFault =
  | { mode: "status"; status: number; body?: unknown; headers?: Record<string, string> }
  | { mode: "raw"; body: string; headers?: Record<string, string> }
  | { mode: "no_response" }
  | { mode: "headers_only" }
  | { mode: "stall"; afterDeltas?: number }
  | { mode: "reset"; afterDeltas?: number }
  | { mode: "half_frame"; afterDeltas?: number }
  | { mode: "no_end"; afterDeltas?: number }
  | { mode: "error"; afterDeltas?: number; error: Record<string, unknown> };

/** What compatible servers do differently. */
export interface WireQuirks {
  /** Under which name OpenAI-compatible servers stream reasoning. Default reasoning_content. */
  reasoningField?: string;
  /** Tool calls come without ids. */
  omitToolIds?: boolean;
  /** When OpenAI-compatible servers send usage. Default `asked`. */
  usage?: "asked" | "always" | "never";
}

/** One answer of the server. A reply with an errorMessage is an error inside a 200 stream. */
export interface WireReply
  extends Pick<ScriptReply, "content" | "stopReason" | "usage" | "errorMessage" | "chunkSize" | "delayMs" | "gate"> {
  wire?: WireFault;
  quirks?: WireQuirks;
  /** Sent as the provider's own word for why the answer ended. */
  rawStopReason?: string;
}

/** A piece of an answer; a delta counts for `afterDeltas`. */
export interface Frame {
  text: string;
  kind: "open" | "delta" | "close" | "end";
}

export interface FrameContext {
  model: string;
  /** Counts answers, from 0. */
  step: number;
  /** Bytes of the request, for token counts that the script does not give. */
  requestBytes: number;
  usageAsked: boolean;
}

const BYTES_PER_TOKEN = 4;

/** Tokens that the server says it used: the script's, or a quarter of the characters. */
export function wireUsage(
  source: WireReply,
  requestBytes: number,
): Pick<Usage, "input" | "output" | "cacheRead" | "cacheWrite"> {
  const { usage } = source;
  const written = source.content.reduce((sum, block) => sum + blockLength(block), 0);
  return {
    input: usage?.input ?? (usage ? 0 : Math.ceil(requestBytes / BYTES_PER_TOKEN)),
    output: usage?.output ?? Math.ceil(written / BYTES_PER_TOKEN),
    cacheRead: usage?.cacheRead ?? 0,
    cacheWrite: usage?.cacheWrite ?? 0,
  };
}

function blockLength(block: ScriptBlock): number {
  if (typeof block === "string") return block.length;
  if (block.type === "text") return block.text.length;
  if (block.type === "thinking") return block.thinking.length;
  return block.rawArguments?.length ?? JSON.stringify(block.arguments).length;
}

/** The provider's word for the stop reason, by a table of the API's words. */
export function wireStopReason(source: WireReply, words: Record<"stop" | "length" | "toolUse", string>): string {
  if (source.rawStopReason !== undefined) return source.rawStopReason;
  const reason = replyStopReason(source);
  return reason === "length" || reason === "toolUse" ? words[reason] : words.stop;
}
