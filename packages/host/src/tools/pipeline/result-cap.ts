import type { AgentToolResult } from "@tau/agent";

/** Characters of text that a result may bring into any context; the built-in tools stay below it by themselves. */
export const LARGEST_RESULT = 100_000;
/** Share of the window, at four characters a token, that one result may fill. */
const WINDOW_SHARE = 1 / 4;
/** The same for all results of one message together: no compaction can part them (report R113). */
const BATCH_SHARE = 1 / 2;
const CHARS_A_TOKEN = 4;
const HEAD_SHARE = 0.7;

/** Keeps the whole text of a result that was cut; gives the file's path, or undefined when it could not be kept. */
export type KeepWhole = (text: string, toolCallId: string) => Promise<string | undefined>;

/**
 * Characters that one tool result may have (report R122).
 * @param contextWindow tokens
 * @param calls that the message has which this one belongs to
 */
export function resultLimit(contextWindow: number, calls = 1): number {
  const share = Math.min(WINDOW_SHARE, BATCH_SHARE / calls);
  return Math.min(LARGEST_RESULT, Math.floor(contextWindow * share * CHARS_A_TOKEN));
}

/**
 * Cuts the text of a result that no context can take, whatever tool it is from: head and tail stay, and the model is
 * told where the whole is. A result within the limit comes back as it is.
 */
export async function capResult(
  result: AgentToolResult,
  { toolCallId, limit, keep }: { toolCallId: string; limit: number; keep?: KeepWhole | undefined },
): Promise<AgentToolResult> {
  if (!Array.isArray(result?.content)) return result; // the loop makes an error of it (C8)
  const texts = result.content.flatMap((block) => (block?.type === "text" ? [block.text] : []));
  const length = texts.reduce((sum, text) => sum + text.length, 0);
  if (length <= limit) return result;
  const whole = texts.join("\n");
  const path = await keep?.(whole, toolCallId);
  const others = result.content.filter((block) => block.type !== "text");
  return { ...result, content: [{ type: "text", text: clipped(whole, limit, path) }, ...others] };
}

function clipped(text: string, limit: number, path: string | undefined): string {
  const head = text.slice(0, Math.floor(limit * HEAD_SHARE)).toWellFormed();
  const tail = text.slice(text.length - Math.floor(limit * (1 - HEAD_SHARE))).toWellFormed();
  const where = path ? `the whole is in ${path}` : "the rest is lost; ask for less at a time";
  return `${head}\n[${text.length - head.length - tail.length} of ${text.length} characters left out; ${where}]\n${tail}`;
}
