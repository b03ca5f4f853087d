import type { Message } from "../../protocol/message.ts";
import type { Model } from "../../protocol/model.ts";
import type { Tool } from "../../protocol/tool.ts";
import { encodeJson, isRecord } from "../../stream/json.ts";
import { replayMessages } from "../history/replay.ts";
import { requestHead } from "../history/request-head.ts";
import { listParts, type Segment, wireOf } from "../history/segments.ts";
import { TOOL_ID_RULES } from "../history/wire-names.ts";
import type { EncodedRequest, EncodeInput } from "../request/openai-call.ts";
import { outputLimit, type RequestSize } from "../request/output-limit.ts";
import { samplingFields } from "../request/sampling.ts";
import { lowerTools, SCHEMA_PROFILES } from "../schema/tool-schemas.ts";
import { type ServerTraits, traitsOf } from "./compat.ts";
import { encodeConversation, messageBytes } from "./conversation.ts";
import type { MessageStyle } from "./encode-message.ts";
import type { Mend } from "./mends.ts";
import { thinkingFields } from "./thinking.ts";

// Larger than any answer of an agent; rate limits count what is asked for, not what is used.
const DEFAULT_LIMIT = 32_000;
const EPHEMERAL = { cache_control: { type: "ephemeral" } };

/**
 * The body of a request. Keys stand in one order, and everything that can change from turn to turn comes after the
 * messages: while a session only grows, the body up to the last message of before has the same bytes (O3). With
 * Anthropic's cache marks (`cacheControlFormat`) the mark of the last message moves; caches do not count it.
 */
export function encodeRequest({ model, context, options, mends }: EncodeInput<Mend>): EncodedRequest {
  const traits = traitsOf(model);
  const style = styleOf(model, traits, mends);
  const head = requestHead(context, { midConversation: traits.midConversationSystem });
  const toolIds = traits.mistralToolIds ? TOOL_ID_RULES.mistral : TOOL_ID_RULES.openai;
  const messages = replayMessages(head.messages, { model, toolIds });
  const segments = encodeConversation(messages, style);
  const system = systemJson(head.systemPrompt, style);
  const tools = toolsJson(head.tools, traits, messages);
  const bytes = Buffer.byteLength(system) + Buffer.byteLength(tools.json);
  const rest = tailFields({ model, context, options, mends }, traits, {
    messages,
    bytes: segments.reduce((sum, segment) => sum + segment.bytes, bytes),
    bytesOf: (message) => messageBytes(message, style),
  });
  const first = [
    `"model":${encodeJson(model.id)}`,
    `"stream":true`,
    ...(traits.usageInStreaming && !mends.has("no-stream-options") ? [`"stream_options":{"include_usage":true}`] : []),
    ...(tools.json === "" ? [] : [`"tools":${tools.json}`]),
  ].join(",");
  const last = Object.entries(rest)
    .map(([name, value]) => (value === undefined ? "" : `,"${name}":${encodeJson(value)}`))
    .join("");
  // The conversation may be megabytes: its bytes are kept from request to request, and put into no text.
  const body = [
    Buffer.from(`{${first},"messages":[${system}`),
    ...listParts(markedSegments(segments, traits), system === ""),
    Buffer.from(`]${last}}`),
  ];
  return { body, tools: head.tools, warnings: tools.warnings };
}

function styleOf(model: Model, traits: ServerTraits, mends: ReadonlySet<Mend>): MessageStyle {
  const developer = traits.developerRole && model.reasoning && !mends.has("no-developer-role");
  const key = JSON.stringify([
    traits.toolResultName,
    traits.nonNullAssistantContent,
    traits.thinkingAsText,
    traits.reasoningOnAssistant,
    traits.assistantAfterToolResult,
    traits.anthropicCache,
    model.reasoning,
    developer,
  ]);
  return { key, traits, systemRole: developer ? "developer" : "system", reasoning: model.reasoning };
}

// A session has one prompt for all its requests.
let newestSystem = { prompt: "", key: "", json: "" };

function systemJson(prompt: string, { key, traits, systemRole }: MessageStyle): string {
  if (prompt === "") return "";
  if (newestSystem.prompt === prompt && newestSystem.key === key) return newestSystem.json;
  const content = traits.anthropicCache ? [{ type: "text", text: prompt, ...EPHEMERAL }] : prompt;
  const json = encodeJson({ role: systemRole, content });
  newestSystem = { prompt, key, json };
  return json;
}

interface EncodedTools {
  /** Empty when there are none to declare. */
  json: string;
  warnings: readonly string[];
}

const NO_TOOLS: EncodedTools = { json: "", warnings: [] };
const EMPTY_TOOLS: EncodedTools = { json: "[]", warnings: [] };
const encodedTools = new WeakMap<readonly Tool[], EncodedTools & { key: string }>();

function toolsJson(tools: readonly Tool[], traits: ServerTraits, messages: readonly Message[]): EncodedTools {
  if (tools.length === 0) {
    const history = traits.toolsWithToolHistory && messages.some((message) => message.role === "toolResult");
    return history ? EMPTY_TOOLS : NO_TOOLS;
  }
  const key = JSON.stringify([traits.schema, traits.strictMode]);
  const known = encodedTools.get(tools);
  if (known?.key === key) return known;
  const lowered = lowerTools(tools, SCHEMA_PROFILES[traits.schema]);
  const wire = lowered.tools.map(({ name, description, parameters }) => ({
    type: "function",
    function: { name, description, parameters, ...(traits.strictMode ? { strict: false } : {}) },
  }));
  const encoded = { key, json: wire.length === 0 ? "" : encodeJson(wire), warnings: lowered.warnings };
  encodedTools.set(tools, encoded);
  return encoded;
}

/** The segments, with Anthropic's mark on the last message where the server wants it. */
function markedSegments(segments: readonly Segment[], traits: ServerTraits): readonly Segment[] {
  const at = segments.findLastIndex(({ wire }) => wire.length > 0);
  const last = segments[at];
  return traits.anthropicCache && last ? segments.with(at, { ...last, wire: withCacheMark(last.wire) }) : segments;
}

/** The messages with a mark on the last one. */
function withCacheMark(wire: Uint8Array): Uint8Array {
  const messages: unknown = JSON.parse(`[${Buffer.from(wire.subarray(1)).toString()}]`);
  if (!Array.isArray(messages)) return wire;
  const message: unknown = messages.pop();
  if (!isRecord(message)) return wire;
  const parts = typeof message.content === "string" ? [{ type: "text", text: message.content }] : message.content;
  if (!Array.isArray(parts) || parts.length === 0) return wire;
  const marked = parts.map((part, index) =>
    index === parts.length - 1 && isRecord(part) ? { ...part, ...EPHEMERAL } : part,
  );
  return wireOf([...messages, { ...message, content: marked }]);
}

/** The fields after the messages. */
function tailFields(
  { model, options, mends }: EncodeInput<Mend>,
  traits: ServerTraits,
  size: RequestSize,
): Record<string, unknown> {
  const { compat } = model;
  return {
    [limitField(traits, mends)]: limitOf(model, options.maxTokens, size),
    temperature: mends.has("no-temperature") ? undefined : options.temperature,
    ...thinkingFields(model, options.thinkingLevel, traits),
    prompt_cache_key: traits.cacheKey && !mends.has("no-cache-key") ? options.sessionId?.slice(0, 64) : undefined,
    tool_stream: compat?.zaiToolStream === true ? true : undefined,
    provider: compat?.openRouterRouting,
    priority: compat?.vllmPriority,
    ...samplingFields(model, options, mends.has("no-temperature") ? ["temperature"] : []),
  };
}

/** Undefined, the server's own limit, when neither the caller nor the model name one. */
function limitOf(model: Model, wanted: number | undefined, size: RequestSize): number | undefined {
  if (model.maxTokens > 0) return outputLimit(model, wanted ?? DEFAULT_LIMIT, size);
  return wanted === undefined ? undefined : outputLimit({ ...model, maxTokens: wanted }, wanted, size);
}

function limitField(traits: ServerTraits, mends: ReadonlySet<Mend>): ServerTraits["maxTokensField"] {
  if (mends.has("max-completion-tokens")) return "max_completion_tokens";
  return mends.has("max-tokens") ? "max_tokens" : traits.maxTokensField;
}
