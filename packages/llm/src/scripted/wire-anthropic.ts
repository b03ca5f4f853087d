import type { AssistantContent } from "../protocol/message.ts";
import { chunks, replyBlocks, type ScriptedBlock } from "./reply.ts";
import { type Frame, type FrameContext, type WireReply, wireStopReason, wireUsage } from "./wire-reply.ts";

const WORDS = { stop: "end_turn", length: "max_tokens", toolUse: "tool_use" };

/** The frames of a reply as a Messages server streams it. */
export function* anthropicFrames(source: WireReply, context: FrameContext): Generator<Frame> {
  const { input, output, cacheRead, cacheWrite } = wireUsage(source, context.requestBytes);
  const usage = { input_tokens: input, cache_read_input_tokens: cacheRead, cache_creation_input_tokens: cacheWrite };
  const message = {
    ...{ id: `msg_${context.step}`, type: "message", role: "assistant", model: context.model, content: [] },
    ...{ stop_reason: null, stop_sequence: null, usage: { ...usage, output_tokens: 1 } },
  };
  yield { kind: "open", text: event("message_start", { message }) };
  yield { kind: "open", text: event("ping", {}) };
  for (const [index, scripted] of replyBlocks(source, context.step).entries()) {
    yield { kind: "open", text: event("content_block_start", { index, content_block: emptyBlock(scripted.block) }) };
    for (const delta of blockDeltas(scripted, source.chunkSize)) {
      const signature = delta.type === "signature_delta";
      yield { kind: signature ? "close" : "delta", text: event("content_block_delta", { index, delta }) };
    }
    yield { kind: "close", text: event("content_block_stop", { index }) };
  }
  if (source.errorMessage !== undefined) {
    yield { kind: "end", text: anthropicErrorFrame({ type: "api_error", message: source.errorMessage }) };
    return;
  }
  const stop = { stop_reason: wireStopReason(source, WORDS), stop_sequence: null };
  yield { kind: "end", text: event("message_delta", { delta: stop, usage: { output_tokens: output } }) };
  yield { kind: "end", text: event("message_stop", {}) };
}

/** An error inside a stream, as the Messages API sends it. */
export const anthropicErrorFrame = (error: object): string => event("error", { error });

/** The signatures that a reply gives out. */
export function wireSignatures(source: WireReply): string[] {
  return source.content.flatMap((block) =>
    typeof block !== "string" && block.type === "thinking" && !block.redacted ? [signatureOf(block)] : [],
  );
}

const event = (type: string, body: object) => `event: ${type}\ndata: ${JSON.stringify({ type, ...body })}\n\n`;

/** The signature that a thinking block is given out with. */
export const signatureOf = (block: { thinking: string; thinkingSignature?: string }): string =>
  block.thinkingSignature ?? Buffer.from(`signed ${block.thinking}`).toString("base64");

function emptyBlock(block: AssistantContent): object {
  if (block.type === "text") return { type: "text", text: "" };
  if (block.type === "toolCall") return { type: "tool_use", id: block.id, name: block.name, input: {} };
  if (block.redacted) return { type: "redacted_thinking", data: signatureOf(block) };
  return { type: "thinking", thinking: "", signature: "" };
}

function* blockDeltas(
  { block, text }: ScriptedBlock,
  size: number | undefined,
): Generator<{ type: string; [key: string]: string }> {
  if (block.type === "thinking" && block.redacted) return;
  for (const piece of chunks(text, size)) yield DELTAS[block.type](piece);
  if (block.type === "thinking") yield { type: "signature_delta", signature: signatureOf(block) };
}

const DELTAS: Record<AssistantContent["type"], (piece: string) => { type: string; [key: string]: string }> = {
  text: (text) => ({ type: "text_delta", text }),
  thinking: (thinking) => ({ type: "thinking_delta", thinking }),
  toolCall: (json) => ({ type: "input_json_delta", partial_json: json }),
};
