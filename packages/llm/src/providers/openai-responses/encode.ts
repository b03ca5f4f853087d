import type { Message } from "../../protocol/message.ts";
import type { Model } from "../../protocol/model.ts";
import type { Tool } from "../../protocol/tool.ts";
import { encodeJson } from "../../stream/json.ts";
import { type Adjustments, adjustFields } from "../adjust/adjustments.ts";
import { replayMessages, replayTarget } from "../history/replay.ts";
import { requestHead } from "../history/request-head.ts";
import { listParts } from "../history/segments.ts";
import { TOOL_ID_RULES } from "../history/wire-names.ts";
import type { EncodedRequest, EncodeInput } from "../request/call-api.ts";
import { fieldsJson } from "../request/fields-json.ts";
import { knownWindow, outputLimit, type RequestSize } from "../request/output-limit.ts";
import { samplingFields } from "../request/sampling.ts";
import { lowerTools, SCHEMA_PROFILES } from "../schema/tool-schemas.ts";
import { type ServerTraits, traitsOf } from "./compat.ts";
import { encodeConversation, messageBytes } from "./conversation.ts";
import type { MessageStyle } from "./encode-message.ts";
import { reasoningField } from "./thinking.ts";

// Larger than any answer of an agent with the thoughts before it, which count as output here; rate limits count what
// is asked for, not what is used.
const DEFAULT_LIMIT = 64_000;
// The API refuses less.
const LEAST_LIMIT = 16;
const CACHE_KEY_CHARS = 64;

/**
 * The body of a request. Nothing is stored at the server: the whole conversation goes with each request, reasoning in
 * its encrypted form. Everything that can change from turn to turn comes after the input: while a session only grows,
 * the body up to the last item of before has the same bytes (O3).
 *
 * https://platform.openai.com/docs/api-reference/responses/create
 */
export function encodeRequest({ model, context, options, adjustments }: EncodeInput): EncodedRequest {
  const traits = traitsOf(model);
  const style = styleOf(traits, adjustments);
  const head = requestHead(context, { midConversation: traits.midConversationSystem });
  const messages = replayMessages(head.messages, replayTarget(model, TOOL_ID_RULES.responses, adjustments));
  const segments = encodeConversation(messages, style);
  const tools = toolsJson(head.tools, !adjustments.styles.has("no-strict-tools"));
  const before = adjustFields({ store: false }, adjustments);
  const instructions = head.systemPrompt === "" ? "" : `,"instructions":${encodeJson(head.systemPrompt)}`;
  const declared = tools.json === "" ? "" : `,"tools":${tools.json}`;
  const first = `"model":${encodeJson(model.id)},"stream":true${fieldsJson(before)}${instructions}${declared}`;
  const size = {
    messages,
    bytes: segments.reduce((sum, segment) => sum + segment.bytes, Buffer.byteLength(first)),
    bytesOf: (message: Message) => messageBytes(message, style),
  };
  const behind = adjustFields(tailFields({ model, context, options, adjustments }, traits, size), adjustments);
  const body = [
    Buffer.from(`{${first},"input":[`),
    ...listParts(segments, true),
    Buffer.from(`]${fieldsJson(behind)}}`),
  ];
  return { body, fields: { ...before, ...behind }, tools: head.tools, warnings: tools.warnings };
}

function styleOf(traits: ServerTraits, { styles }: Adjustments): MessageStyle & { key: string } {
  const reasoning = !styles.has("no-reasoning-items");
  const itemIds = !styles.has("no-item-ids");
  const { imagesInResults, plainReasoning } = traits;
  const systemRole = styles.has("system-role") ? "system" : traits.systemRole;
  const key = JSON.stringify([systemRole, imagesInResults, plainReasoning, reasoning, itemIds]);
  return { traits: { systemRole, imagesInResults, plainReasoning }, reasoning, itemIds, key };
}

interface EncodedTools {
  /** Empty when there are none to declare. */
  json: string;
  warnings: readonly string[];
}

const NO_TOOLS: EncodedTools = { json: "", warnings: [] };
const encodedTools = new WeakMap<readonly Tool[], EncodedTools & { strict: boolean }>();

/** Schemas are not strict, which is the default of this API and would make every optional parameter required. */
function toolsJson(tools: readonly Tool[], strict: boolean): EncodedTools {
  if (tools.length === 0) return NO_TOOLS;
  const known = encodedTools.get(tools);
  if (known?.strict === strict) return known;
  const lowered = lowerTools(tools, SCHEMA_PROFILES.openai);
  const wire = lowered.tools.map(({ name, description, parameters }) => ({
    type: "function",
    name,
    description,
    parameters,
    ...(strict ? { strict: false } : {}),
  }));
  const encoded = { strict, json: wire.length === 0 ? "" : encodeJson(wire), warnings: lowered.warnings };
  encodedTools.set(tools, encoded);
  return encoded;
}

/** The fields after the input. */
function tailFields(
  { model, options, adjustments }: EncodeInput,
  traits: ServerTraits,
  size: RequestSize,
): Record<string, unknown> {
  const limited = { ...model, contextWindow: knownWindow(model, adjustments) };
  return {
    max_output_tokens: traits.outputLimit ? limitOf(limited, options.maxTokens, size) : undefined,
    temperature: !model.reasoning || traits.temperature ? options.temperature : undefined,
    reasoning: reasoningField(model, options.thinkingLevel),
    include: model.reasoning ? ["reasoning.encrypted_content"] : undefined,
    prompt_cache_key: traits.cacheKey ? options.sessionId?.slice(0, CACHE_KEY_CHARS) : undefined,
    ...samplingFields(model, options),
  };
}

/** Undefined, the server's own limit, when neither the caller nor the model name one. */
function limitOf(model: Model, wanted: number | undefined, size: RequestSize): number | undefined {
  if (model.maxTokens <= 0 && wanted === undefined) return undefined;
  const asked = wanted ?? DEFAULT_LIMIT;
  const most = model.maxTokens > 0 ? model : { ...model, maxTokens: asked };
  return Math.max(LEAST_LIMIT, outputLimit(most, asked, size));
}
