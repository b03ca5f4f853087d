import type { Model } from "../../protocol/model.ts";
import type { Tool } from "../../protocol/tool.ts";
import { encodeJson } from "../../stream/json.ts";
import { replayMessages } from "../history/replay.ts";
import { requestHead } from "../history/request-head.ts";
import { listParts } from "../history/segments.ts";
import { TOOL_ID_RULES } from "../history/wire-names.ts";
import type { EncodedRequest, EncodeInput } from "../request/openai-call.ts";
import { outputLimit, type RequestSize } from "../request/output-limit.ts";
import { samplingFields } from "../request/sampling.ts";
import { lowerTools, SCHEMA_PROFILES } from "../schema/tool-schemas.ts";
import { type ServerTraits, traitsOf } from "./compat.ts";
import { encodeConversation, messageBytes } from "./conversation.ts";
import type { MessageStyle } from "./encode-message.ts";
import type { Mend } from "./mends.ts";
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
export function encodeRequest({ model, context, options, mends }: EncodeInput<Mend>): EncodedRequest {
  const traits = traitsOf(model);
  const style = styleOf(traits, mends);
  const head = requestHead(context, { midConversation: traits.midConversationSystem });
  const messages = replayMessages(head.messages, { model, toolIds: TOOL_ID_RULES.responses });
  const segments = encodeConversation(messages, style);
  const tools = toolsJson(head.tools);
  const first = [
    `"model":${encodeJson(model.id)}`,
    `"stream":true`,
    `"store":false`,
    ...(head.systemPrompt === "" ? [] : [`"instructions":${encodeJson(head.systemPrompt)}`]),
    ...(tools.json === "" ? [] : [`"tools":${tools.json}`]),
  ].join(",");
  const rest = tailFields({ model, context, options, mends }, traits, {
    messages,
    bytes: segments.reduce((sum, segment) => sum + segment.bytes, Buffer.byteLength(first)),
    bytesOf: (message) => messageBytes(message, style),
  });
  const last = Object.entries(rest)
    .map(([name, value]) => (value === undefined ? "" : `,"${name}":${encodeJson(value)}`))
    .join("");
  const body = [Buffer.from(`{${first},"input":[`), ...listParts(segments, true), Buffer.from(`]${last}}`)];
  return { body, tools: head.tools, warnings: tools.warnings };
}

function styleOf(traits: ServerTraits, mends: ReadonlySet<Mend>): MessageStyle & { key: string } {
  const reasoning = !mends.has("no-reasoning-items");
  const itemIds = !mends.has("no-item-ids");
  const { systemRole, imagesInResults, plainReasoning } = traits;
  const key = JSON.stringify([systemRole, imagesInResults, plainReasoning, reasoning, itemIds]);
  return { traits, reasoning, itemIds, key };
}

interface EncodedTools {
  /** Empty when there are none to declare. */
  json: string;
  warnings: readonly string[];
}

const NO_TOOLS: EncodedTools = { json: "", warnings: [] };
const encodedTools = new WeakMap<readonly Tool[], EncodedTools>();

/** Schemas are not strict, which is the default of this API and would make every optional parameter required. */
function toolsJson(tools: readonly Tool[]): EncodedTools {
  if (tools.length === 0) return NO_TOOLS;
  const known = encodedTools.get(tools);
  if (known) return known;
  const lowered = lowerTools(tools, SCHEMA_PROFILES.openai);
  const wire = lowered.tools.map(({ name, description, parameters }) => ({
    ...{ type: "function", name, description, parameters },
    strict: false,
  }));
  const encoded = { json: wire.length === 0 ? "" : encodeJson(wire), warnings: lowered.warnings };
  encodedTools.set(tools, encoded);
  return encoded;
}

/** The fields after the input. */
function tailFields(
  { model, options, mends }: EncodeInput<Mend>,
  traits: ServerTraits,
  size: RequestSize,
): Record<string, unknown> {
  const limited = traits.outputLimit && !mends.has("no-output-limit");
  const warm = (!model.reasoning || traits.temperature) && !mends.has("no-temperature");
  return {
    max_output_tokens: limited ? limitOf(model, options.maxTokens, size) : undefined,
    temperature: warm ? options.temperature : undefined,
    reasoning: reasoningField(model, options.thinkingLevel, mends),
    include: model.reasoning && !mends.has("no-include") ? ["reasoning.encrypted_content"] : undefined,
    prompt_cache_key:
      traits.cacheKey && !mends.has("no-cache-key") ? options.sessionId?.slice(0, CACHE_KEY_CHARS) : undefined,
    ...samplingFields(model, options, mends.has("no-temperature") ? ["temperature"] : []),
  };
}

/** Undefined, the server's own limit, when neither the caller nor the model name one. */
function limitOf(model: Model, wanted: number | undefined, size: RequestSize): number | undefined {
  if (model.maxTokens <= 0 && wanted === undefined) return undefined;
  const asked = wanted ?? DEFAULT_LIMIT;
  const most = model.maxTokens > 0 ? model : { ...model, maxTokens: asked };
  return Math.max(LEAST_LIMIT, outputLimit(most, asked, size));
}
