import type { AssistantMessage } from "@tau/llm";

/** `errorDetails.code` of providers whose model failed to write a call (Gemini's finish reasons, and our own word). */
const MALFORMED_CODES = new Set(["malformed_function_call", "unexpected_tool_call", "malformed_tool_call"]);

/** A prompt this close to the window leaves no room for an answer. */
const FULL_SHARE = 0.98;

/** The text a reader sees, without reasoning. Empty when there is only white space. */
export function visibleText(reply: AssistantMessage): string {
  const text = reply.content.map((block) => (block.type === "text" ? block.text : "")).join("");
  return text.trim() === "" ? "" : text;
}

/** An answer that ended by itself with neither text nor call (reports R010, R036). */
export function isEmptyReply(reply: AssistantMessage): boolean {
  if (reply.stopReason === "error" || reply.stopReason === "aborted" || reply.stopReason === "length") return false;
  return visibleText(reply) === "" && !reply.content.some((block) => block.type === "toolCall");
}

/** The model tried to call a tool and the provider could not read it (report R036). */
export function isMalformedCall(reply: AssistantMessage): boolean {
  return MALFORMED_CODES.has((reply.errorDetails?.code ?? "").toLowerCase());
}

/** The server is there, and will answer when its model is loaded. */
export function isLoading(reply: AssistantMessage): boolean {
  return reply.stopReason === "error" && reply.errorDetails?.code === "model_loading";
}

/**
 * No output since the prompt took the window: some servers report it as a cut answer or as an empty one (R007, R116).
 * @param contextWindow tokens
 */
export function contextIsFull(reply: AssistantMessage, contextWindow: number): boolean {
  if (reply.stopReason !== "length" || visibleText(reply) !== "" || contextWindow <= 0) return false;
  if (reply.content.some((block) => block.type === "toolCall")) return false;
  const { input, output, cacheRead, cacheWrite } = reply.usage;
  const prompt = input + cacheRead + cacheWrite;
  return prompt + output >= contextWindow * FULL_SHARE || (output === 0 && prompt > 0);
}

/** A refused request whose reason is an image (report R056). */
export function speaksOfImages(reply: AssistantMessage): boolean {
  if (reply.stopReason !== "error" || reply.errorKind === "retryable" || reply.errorKind === "overflow") return false;
  const refused = reply.errorKind === "invalid_request" || reply.errorDetails?.status === 400;
  return refused && /\b(image|media[_ ]type|base64)/i.test(reply.errorMessage ?? "");
}

/** True for a reply that moved the work on, so that the counts of failures start anew. */
export function isUsableReply(reply: AssistantMessage): boolean {
  if (reply.stopReason === "error" || reply.stopReason === "aborted") return false;
  if (reply.content.some((block) => block.type === "toolCall")) return true;
  return reply.stopReason !== "length" && !isEmptyReply(reply);
}
