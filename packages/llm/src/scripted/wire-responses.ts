import type { AssistantContent } from "../protocol/message.ts";
import { chunks, replyBlocks, replyStopReason, type ScriptedBlock } from "./reply.ts";
import { signatureOf } from "./wire-anthropic.ts";
import { type Frame, type FrameContext, type WireReply, wireUsage } from "./wire-reply.ts";

type Json = Record<string, unknown>;

/** Writes one event with the next sequence number. */
type Write = (kind: Frame["kind"], type: string, body: Json) => Frame;

/** The frames of a reply as a Responses server streams it. */
export function* responsesFrames(source: WireReply, context: FrameContext): Generator<Frame> {
  let sequence = 0;
  const write: Write = (kind, type, body) => ({ kind, text: event(type, { sequence_number: sequence++, ...body }) });
  const head = { id: `resp_${context.step}`, object: "response", created_at: 1_700_000_000, model: context.model };
  const started = { ...head, status: "in_progress", output: [], usage: null, error: null, incomplete_details: null };
  yield write("open", "response.created", { response: started });
  yield write("open", "response.in_progress", { response: started });
  const output: Json[] = [];
  for (const [index, scripted] of replyBlocks(source, context.step).entries()) {
    const item = itemOf(scripted, `${context.step}_${index}`);
    output.push(item);
    yield* itemFrames(scripted, item, { write, index, size: source.chunkSize });
  }
  const usage = usageBody(source, context);
  const { type, body } = ending(source);
  yield write("end", type, { response: { ...head, output, usage, error: null, incomplete_details: null, ...body } });
}

/** An error inside a stream, as the Responses API sends it: what others call its type is its code. */
export function responsesErrorFrame({ type, ...error }: Json): string {
  return event("error", { code: type ?? null, param: null, ...error });
}

const event = (type: string, body: Json) => `event: ${type}\ndata: ${JSON.stringify({ ...body, type })}\n\n`;

function ending(source: WireReply): { type: string; body: Json } {
  if (source.errorMessage !== undefined) {
    const error = { code: "server_error", message: source.errorMessage };
    return { type: "response.failed", body: { status: "failed", error } };
  }
  const reason = source.rawStopReason ?? (replyStopReason(source) === "length" ? "max_output_tokens" : undefined);
  return reason === undefined
    ? { type: "response.completed", body: { status: "completed" } }
    : { type: "response.incomplete", body: { status: "incomplete", incomplete_details: { reason } } };
}

/** The item of a block as it is in the end. */
function itemOf({ block, text }: ScriptedBlock, id: string): Json {
  if (block.type === "toolCall") {
    const { name } = block;
    return { type: "function_call", id: `fc_${id}`, call_id: block.id, name, arguments: text, status: "completed" };
  }
  if (block.type === "thinking") {
    const summary = block.redacted ? [] : [{ type: "summary_text", text }];
    return { type: "reasoning", id: `rs_${id}`, summary, encrypted_content: signatureOf(block) };
  }
  const content = [textPart(text)];
  return { type: "message", id: `msg_${id}`, role: "assistant", status: "completed", content };
}

const textPart = (text: string): Json => ({ type: "output_text", text, annotations: [], logprobs: [] });

interface ItemPlace {
  write: Write;
  index: number;
  size: number | undefined;
}

function* itemFrames({ block, text }: ScriptedBlock, item: Json, place: ItemPlace): Generator<Frame> {
  const { write, index } = place;
  yield write("open", "response.output_item.added", { output_index: index, item: { ...item, ...EMPTY[block.type] } });
  const at = { item_id: item.id, output_index: index };
  yield* CONTENT[block.type](block, text, { ...place, at });
  yield write("close", "response.output_item.done", { output_index: index, item });
}

/** What an item lacks when it is announced. */
const EMPTY: Record<AssistantContent["type"], Json> = {
  text: { status: "in_progress", content: [] },
  thinking: { summary: [], encrypted_content: "" },
  toolCall: { status: "in_progress", arguments: "" },
};

type Content = (block: AssistantContent, text: string, place: ItemPlace & { at: Json }) => Generator<Frame>;

const CONTENT: Record<AssistantContent["type"], Content> = {
  *text(_block, text, { write, size, at }) {
    const part = { ...at, content_index: 0 };
    yield write("open", "response.content_part.added", { ...part, part: textPart("") });
    for (const delta of chunks(text, size)) {
      yield write("delta", "response.output_text.delta", { ...part, delta, logprobs: [] });
    }
    yield write("close", "response.output_text.done", { ...part, text, logprobs: [] });
    yield write("close", "response.content_part.done", { ...part, part: textPart(text) });
  },
  *thinking(block, text, { write, size, at }) {
    if (block.type === "thinking" && block.redacted) return;
    const part = { ...at, summary_index: 0 };
    yield write("open", "response.reasoning_summary_part.added", { ...part, part: { type: "summary_text", text: "" } });
    for (const delta of chunks(text, size)) {
      yield write("delta", "response.reasoning_summary_text.delta", { ...part, delta });
    }
    yield write("close", "response.reasoning_summary_text.done", { ...part, text });
    yield write("close", "response.reasoning_summary_part.done", { ...part, part: { type: "summary_text", text } });
  },
  *toolCall(_block, text, { write, size, at }) {
    for (const delta of chunks(text, size)) {
      yield write("delta", "response.function_call_arguments.delta", { ...at, delta });
    }
    yield write("close", "response.function_call_arguments.done", { ...at, arguments: text });
  },
};

function usageBody(source: WireReply, context: FrameContext): Json {
  const { input, output, cacheRead, cacheWrite } = wireUsage(source, context.requestBytes);
  const prompt = input + cacheRead + cacheWrite;
  return {
    input_tokens: prompt,
    input_tokens_details: { cached_tokens: cacheRead },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: prompt + output,
  };
}
