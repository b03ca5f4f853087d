import { chunks, replyBlocks, type ScriptedBlock } from "./reply.ts";
import { type Frame, type FrameContext, type WireReply, wireStopReason, wireUsage } from "./wire-reply.ts";

const WORDS = { stop: "stop", length: "length", toolUse: "tool_calls" };

/** The frames of a reply as a chat-completions server streams it. */
export function* openAIFrames(source: WireReply, context: FrameContext): Generator<Frame> {
  const head = {
    id: `chatcmpl-${context.step}`,
    object: "chat.completion.chunk",
    created: 1_700_000_000,
    model: context.model,
  };
  const chunk = (delta: object, finish: string | null = null): string =>
    frame({ ...head, choices: [{ index: 0, delta, finish_reason: finish }] });

  yield { kind: "open", text: chunk({ role: "assistant", content: "" }) };
  let calls = 0;
  for (const scripted of replyBlocks(source, context.step)) {
    if (scripted.block.type === "toolCall") yield* callFrames(scripted, calls++, { source, chunk });
    else yield* textFrames(scripted, source, chunk);
  }
  if (source.errorMessage !== undefined) {
    yield { kind: "end", text: openAIErrorFrame({ message: source.errorMessage, type: "server_error", code: null }) };
    return;
  }
  yield { kind: "end", text: chunk({}, wireStopReason(source, WORDS)) };
  const when = source.quirks?.usage ?? "asked";
  if (when === "always" || (when === "asked" && context.usageAsked)) {
    yield { kind: "end", text: frame({ ...head, choices: [], usage: usageBody(source, context) }) };
  }
  yield { kind: "end", text: "data: [DONE]\n\n" };
}

/** An error inside a stream, as OpenAI-compatible servers send it. */
export const openAIErrorFrame = (error: object): string => frame({ error });

const frame = (body: object) => `data: ${JSON.stringify(body)}\n\n`;

function* textFrames(
  { block, text }: ScriptedBlock,
  source: WireReply,
  chunk: (delta: object) => string,
): Generator<Frame> {
  const field = block.type === "text" ? "content" : (source.quirks?.reasoningField ?? "reasoning_content");
  for (const delta of chunks(text, source.chunkSize)) yield { kind: "delta", text: chunk({ [field]: delta }) };
}

function* callFrames(
  { block, text }: ScriptedBlock,
  index: number,
  { source, chunk }: { source: WireReply; chunk: (delta: object) => string },
): Generator<Frame> {
  if (block.type !== "toolCall") return;
  const id = source.quirks?.omitToolIds ? {} : { id: block.id };
  const first = { index, ...id, type: "function", function: { name: block.name, arguments: "" } };
  yield { kind: "open", text: chunk({ tool_calls: [first] }) };
  for (const delta of chunks(text, source.chunkSize)) {
    yield { kind: "delta", text: chunk({ tool_calls: [{ index, function: { arguments: delta } }] }) };
  }
}

function usageBody(source: WireReply, context: FrameContext): object {
  const { input, output, cacheRead, cacheWrite } = wireUsage(source, context.requestBytes);
  const prompt = input + cacheRead + cacheWrite;
  return {
    prompt_tokens: prompt,
    completion_tokens: output,
    total_tokens: prompt + output,
    prompt_tokens_details: { cached_tokens: cacheRead },
  };
}
