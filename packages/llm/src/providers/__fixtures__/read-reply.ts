import { Readable } from "node:stream";
import type { AssistantMessageEvent } from "../../protocol/events.ts";
import type { AssistantMessage } from "../../protocol/message.ts";
import type { Tool } from "../../protocol/tool.ts";
import { scriptedModel } from "../../scripted/script.ts";
import { AssistantAssembler, createAssistantStream } from "../../stream/assembler.ts";
import { ResponseBody } from "../../stream/response-body.ts";
import { MessagesDecoder } from "../anthropic-messages/decode.ts";
import { type Decoder, runExchange } from "../exchange.ts";
import { CompletionsDecoder } from "../openai-completions/decode.ts";
import { ResponsesDecoder } from "../openai-responses/decode.ts";

type Json = Record<string, unknown>;

export const APIS = ["openai-completions", "anthropic-messages", "openai-responses"] as const;
export type Api = (typeof APIS)[number];

export const TOOLS: readonly Tool[] = ["bash", "read"].map((name) => ({ name, description: "", parameters: {} }));

type DecoderParts = ConstructorParameters<typeof MessagesDecoder>[0];

const DECODERS: Record<Api, (parts: DecoderParts) => Decoder> = {
  "openai-completions": (parts) => new CompletionsDecoder(parts),
  "anthropic-messages": (parts) => new MessagesDecoder(parts),
  "openai-responses": (parts) => new ResponsesDecoder(parts),
};

export interface ReadOptions {
  tools?: readonly Tool[];
  /** The connection breaks behind the last byte. */
  broken?: boolean;
}

export interface Read {
  events: AssistantMessageEvent[];
  message: AssistantMessage;
}

/** What the decoder of an API makes of a body. */
export function readReply(api: Api, body: string | readonly Uint8Array[], options: ReadOptions = {}): Promise<Read> {
  const chunks = typeof body === "string" ? [Buffer.from(body)] : body.filter((chunk) => chunk.length > 0);
  const source = Readable.from(options.broken ? breaking(chunks) : chunks, { objectMode: false });
  return readStream(api, source, options.tools ?? TOOLS);
}

async function* breaking(chunks: readonly Uint8Array[]) {
  yield* chunks;
  throw Object.assign(new Error("reset"), { code: "ECONNRESET" });
}

/** What the decoder of an API makes of a stream of bytes; `idleMs` as a request has it, 0 for no limit. */
export async function readStream(api: Api, source: Readable, tools: readonly Tool[], idleMs = 0): Promise<Read> {
  const stream = createAssistantStream();
  const assembler = new AssistantAssembler(scriptedModel({ id: "m", api, provider: "vendor", reasoning: true }), stream);
  const origin = { provider: "vendor" };
  const decoder = DECODERS[api]({ assembler, origin, tools });
  const body = new ResponseBody(source, { firstByteMs: 0, idleMs, host: "test" });
  const events: AssistantMessageEvent[] = [];
  const reading = (async () => {
    for await (const event of stream) events.push(event);
  })();
  await runExchange({ send: async () => ({ status: 200, headers: {}, body }), decoder, assembler, origin });
  await reading;
  return { events, message: await stream.result() };
}

/** Frames of an API that say one thing, so that a test can be a table over all of them. */
export interface Wire {
  sse(...events: unknown[]): string;
  begin(): Json[];
  /** A text block, whole. */
  text(...pieces: string[]): Json[];
  /** A tool call with its arguments in these pieces, and no other word of the server on them. */
  call(id: string, name: string, pieces: readonly string[]): Json[];
  /** The end with this reason: `stop`, `calls` or `length`. */
  end(reason: "stop" | "calls" | "length", usage?: Json): Json[];
}

const data = (event: unknown) => `data: ${typeof event === "string" ? event : JSON.stringify(event)}\n\n`;

function choice(delta: Json, finish_reason: string | null = null): Json {
  return { id: "c1", object: "chat.completion.chunk", choices: [{ index: 0, delta, finish_reason }] };
}

function chatWire(): Wire {
  let calls = 0;
  return {
    sse: (...events) => [...events, "[DONE]"].map(data).join(""),
    begin: () => [choice({ role: "assistant", content: "" })],
    text: (...pieces) => pieces.map((content) => choice({ content })),
    call: (id, name, pieces) => {
      const index = calls++;
      const [first = "", ...rest] = pieces;
      return [
        choice({ tool_calls: [{ index, id, type: "function", function: { name, arguments: first } }] }),
        ...rest.map((args) => choice({ tool_calls: [{ index, function: { arguments: args } }] })),
      ];
    },
    end: (reason, usage) => [
      choice({}, { stop: "stop", calls: "tool_calls", length: "length" }[reason]),
      ...(usage ? [{ id: "c1", choices: [], usage }] : []),
    ],
  };
}

function messagesWire(): Wire {
  let index = -1;
  const delta = (body: Json) => ({ type: "content_block_delta", index, delta: body });
  const block = (content: Json, deltas: readonly Json[]) => {
    index += 1;
    return [
      { type: "content_block_start", index, content_block: content },
      ...deltas.map(delta),
      { type: "content_block_stop", index },
    ];
  };
  return {
    sse: (...events) => events.map(data).join(""),
    begin: () => [{ type: "message_start", message: { id: "msg_1" } }],
    text: (...pieces) =>
      block(
        { type: "text", text: "" },
        pieces.map((text) => ({ type: "text_delta", text })),
      ),
    call: (id, name, pieces) =>
      block(
        { type: "tool_use", id, name, input: {} },
        pieces.map((partial_json) => ({ type: "input_json_delta", partial_json })),
      ),
    end: (reason, usage = {}) => [
      {
        type: "message_delta",
        delta: { stop_reason: { stop: "end_turn", calls: "tool_use", length: "max_tokens" }[reason] },
        usage,
      },
      { type: "message_stop" },
    ],
  };
}

function responsesWire(): Wire {
  let index = -1;
  return {
    sse: (...events) => events.map(data).join(""),
    begin: () => [{ type: "response.created", response: { id: "r1", status: "in_progress" } }],
    text: (...pieces) => {
      const at = { output_index: ++index, item_id: `m${index}` };
      const content = [{ type: "output_text", text: pieces.join("") }];
      return [
        { type: "response.output_item.added", output_index: index, item: { type: "message", id: at.item_id } },
        ...pieces.map((delta) => ({ type: "response.output_text.delta", ...at, delta })),
        { type: "response.output_item.done", output_index: index, item: { type: "message", id: at.item_id, content } },
      ];
    },
    call: (id, name, pieces) => {
      const at = { output_index: ++index, item_id: `f${index}` };
      const item = { type: "function_call", id: at.item_id, call_id: id, name };
      return [
        { type: "response.output_item.added", output_index: index, item },
        ...pieces.map((delta) => ({ type: "response.function_call_arguments.delta", ...at, delta })),
      ];
    },
    end: (reason, usage) =>
      reason === "length"
        ? [{ type: "response.incomplete", response: { id: "r1", status: "incomplete", usage } }]
        : [{ type: "response.completed", response: { id: "r1", status: "completed", usage } }],
  };
}

/** A fresh writer of replies of an API. */
export function wireOf(api: Api): Wire {
  if (api === "openai-completions") return chatWire();
  return api === "anthropic-messages" ? messagesWire() : responsesWire();
}

/** The texts and calls of a message in their order. */
export function said({ content }: AssistantMessage): unknown[] {
  return content.map((block) => {
    if (block.type === "text") return block.text;
    if (block.type === "thinking") return { thinking: block.thinking };
    return { [block.name]: block.invalidArguments ? "invalid" : block.arguments };
  });
}
