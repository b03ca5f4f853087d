import type { Message } from "../../protocol/message.ts";
import type { Model } from "../../protocol/model.ts";
import type { Tool } from "../../protocol/tool.ts";
import { encodeJson, isRecord } from "../../stream/json.ts";
import { type Adjustments, adjustFields } from "../adjust/adjustments.ts";
import { replayMessages, replayTarget } from "../history/replay.ts";
import { requestHead } from "../history/request-head.ts";
import { listParts, type Segment, wireOf } from "../history/segments.ts";
import { TOOL_ID_RULES } from "../history/wire-names.ts";
import type { EncodedRequest, EncodeInput } from "../request/call-api.ts";
import { fieldsJson } from "../request/fields-json.ts";
import { knownWindow, outputLimit, type RequestSize } from "../request/output-limit.ts";
import { samplingFields } from "../request/sampling.ts";
import { lowerTools, SCHEMA_PROFILES } from "../schema/tool-schemas.ts";
import { adjustedTraits, type ServerTraits, traitsOf } from "./compat.ts";
import { encodeConversation, messageBytes } from "./conversation.ts";
import type { MessageStyle } from "./encode-message.ts";
import { thinkingFields } from "./thinking.ts";

// Larger than any answer of an agent; rate limits count what is asked for, not what is used.
const DEFAULT_LIMIT = 32_000;
const EPHEMERAL = { cache_control: { type: "ephemeral" } };

/**
 * The body of a request. Keys stand in one order, and everything that can change from turn to turn comes after the
 * messages: while a session only grows, the body up to the last message of before has the same bytes (O3). With
 * Anthropic's cache marks (`cacheControlFormat`) the mark of the last message moves; caches do not count it.
 */
export function encodeRequest({ model, context, options, adjustments }: EncodeInput): EncodedRequest {
  const traits = adjustedTraits(traitsOf(model), adjustments);
  const style = styleOf(model, traits, adjustments);
  const head = requestHead(context, { midConversation: traits.midConversationSystem });
  const toolIds = traits.mistralToolIds ? TOOL_ID_RULES.mistral : TOOL_ID_RULES.openai;
  const messages = replayMessages(head.messages, replayTarget(model, toolIds, adjustments));
  const segments = encodeConversation(messages, style);
  const system = systemJson(head.systemPrompt, style);
  const tools = toolsJson(head.tools, traits, messages);
  const bytes = Buffer.byteLength(system) + Buffer.byteLength(tools.json);
  const size = {
    messages,
    bytes: segments.reduce((sum, segment) => sum + segment.bytes, bytes),
    bytesOf: (message: Message) => messageBytes(message, style),
  };
  const usage = traits.usageInStreaming ? { include_usage: true } : undefined;
  const before = adjustFields({ stream_options: usage }, adjustments);
  const behind = adjustFields(tailFields({ model, context, options, adjustments }, traits, size), adjustments);
  const first = `"model":${encodeJson(model.id)},"stream":true${fieldsJson(before)}`;
  const declared = tools.json === "" ? "" : `,"tools":${tools.json}`;
  // The conversation may be megabytes: its bytes are kept from request to request, and put into no text.
  const body = [
    Buffer.from(`{${first}${declared},"messages":[${system}`),
    ...listParts(markedSegments(segments, traits), system === ""),
    Buffer.from(`]${fieldsJson(behind)}}`),
  ];
  return { body, fields: { ...before, ...behind }, tools: head.tools, warnings: tools.warnings };
}

function styleOf(model: Model, traits: ServerTraits, { styles }: Adjustments): MessageStyle {
  const developer = traits.developerRole && model.reasoning;
  const reasoning = model.reasoning || styles.has("empty-reasoning");
  const key = JSON.stringify([
    traits.toolResultName,
    traits.nonNullAssistantContent,
    traits.thinkingAsText,
    traits.reasoningOnAssistant,
    traits.reasoningBack,
    traits.assistantAfterToolResult,
    traits.anthropicCache,
    traits.callSignatures,
    reasoning,
    developer,
  ]);
  return { key, traits, systemRole: developer ? "developer" : "system", reasoning };
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
  { model, options, adjustments }: EncodeInput,
  traits: ServerTraits,
  size: RequestSize,
): Record<string, unknown> {
  const { compat } = model;
  const limited = { ...model, contextWindow: knownWindow(model, adjustments) };
  return {
    [traits.maxTokensField]: limitOf(limited, options.maxTokens, size),
    temperature: options.temperature,
    ...thinkingFields(model, options.thinkingLevel, traits),
    prompt_cache_key: traits.cacheKey ? options.sessionId?.slice(0, 64) : undefined,
    tool_stream: compat?.zaiToolStream === true ? true : undefined,
    provider: compat?.openRouterRouting,
    priority: compat?.vllmPriority,
    ...samplingFields(model, options),
  };
}

/** Undefined, the server's own limit, when neither the caller nor the model name one. */
function limitOf(model: Model, wanted: number | undefined, size: RequestSize): number | undefined {
  if (model.maxTokens > 0) return outputLimit(model, wanted ?? DEFAULT_LIMIT, size);
  return wanted === undefined ? undefined : outputLimit({ ...model, maxTokens: wanted }, wanted, size);
}
