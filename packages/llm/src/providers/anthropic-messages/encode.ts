import type { Message } from "../../protocol/message.ts";
import type { Model } from "../../protocol/model.ts";
import type { StreamOptions } from "../../protocol/request.ts";
import type { Tool } from "../../protocol/tool.ts";
import { encodeJson } from "../../stream/json.ts";
import { type Adjustments, adjustFields } from "../adjust/adjustments.ts";
import { replayMessages, replayTarget } from "../history/replay.ts";
import { requestHead } from "../history/request-head.ts";
import { TOOL_ID_RULES } from "../history/wire-names.ts";
import type { EncodedRequest, EncodeInput } from "../request/call-api.ts";
import { fieldsJson } from "../request/fields-json.ts";
import { knownWindow, outputLimit, type RequestSize } from "../request/output-limit.ts";
import { lowerTools, SCHEMA_PROFILES } from "../schema/tool-schemas.ts";
import { type EncodedMessage, encodeMessage } from "./blocks.ts";
import { thinkingFields } from "./thinking.ts";

const CACHE_MARK = '"cache_control":{"type":"ephemeral"}';
const MISSING_START = '{"type":"text","text":"(The conversation before this point is not shown.)"}';

/**
 * The body of a Messages request. Its bytes up to the last message that two requests share are the same in both,
 * cache marks aside (law O3): what may change from turn to turn stands behind the messages.
 *
 * https://docs.anthropic.com/en/api/messages
 */
export function encodeRequest({ model, context, options, adjustments }: EncodeInput): EncodedRequest {
  const compat = model.compat ?? {};
  const head = requestHead(context, { midConversation: compat.supportsMidConvoSystemMessages === true });
  const { tools, warnings } = lowerTools(head.tools, SCHEMA_PROFILES.anthropic);
  const { styles } = adjustments;
  const messages = replayMessages(head.messages, replayTarget(model, TOOL_ID_RULES.anthropic, adjustments));
  const emptySignatures = compat.allowEmptySignature === true;
  const encodeOne = (message: Message) => encodeMessage(message, { emptySignatures });
  const encoded = messages.map(encodeOne);

  const system = head.systemPrompt.trim() === "" ? undefined : systemBlock(head.systemPrompt);
  const declared = tools.map(toolText);
  const bytes = encoded.reduce((sum, { bytes }) => sum + bytes, declared.join().length + head.systemPrompt.length);
  const size = { messages, bytes, bytesOf: (message: Message) => encodeOne(message).bytes };
  const fields = adjustFields(tailFields({ model, context, options, adjustments }, size), adjustments);
  const marks = !styles.has("no-cache-marks");
  const parts = [
    `"model":${encodeJson(model.id)}`,
    `"stream":true`,
    ...(system ? [`"system":[${marks ? marked(system) : system}]`] : []),
    ...(declared.length > 0
      ? [`"tools":[${toolList(declared, marks && compat.supportsCacheControlOnTools !== false)}]`]
      : []),
    `"messages":[${turnList(encoded, marks)}]`,
  ];
  const body = [Buffer.from(`{${parts.join(",")}${fieldsJson(fields)}}`)];
  return { body, fields, tools: head.tools, warnings };
}

/** The fields after the messages. */
function tailFields({ model, options, adjustments }: EncodeInput, size: RequestSize): Record<string, unknown> {
  const limited = { ...model, contextWindow: knownWindow(model, adjustments) };
  const limits = {
    limit: outputLimit(limited, options.maxTokens, size),
    most: outputLimit(limited, undefined, size),
  };
  const thinking = thinkingFields(adjustedModel(model, adjustments), options.thinkingLevel, limits);
  const thinks = thinking.thinking !== undefined && thinking.thinking.type !== "disabled";
  return { ...thinking, ...temperatureField(model, options, thinks) };
}

/** The model as the server's refusals showed it to be. */
function adjustedModel(model: Model, { styles }: Adjustments): Model {
  if (!styles.has("adaptive-thinking") && !styles.has("budget-thinking")) return model;
  // Refused in both forms, the newer one is asked for no more.
  return { ...model, compat: { ...model.compat, forceAdaptiveThinking: !styles.has("budget-thinking") } };
}

const systemBlock = (text: string) => encodeJson({ type: "text", text });

function temperatureField(model: Model, { temperature }: StreamOptions, thinks: boolean): { temperature?: number } {
  // With thinking the API takes no other temperature than its own; some models never do.
  if (temperature === undefined || thinks || model.compat?.supportsTemperature === false) return {};
  return { temperature };
}

const toolTexts = new WeakMap<Tool["parameters"], { name: string; description: string; text: string }>();

function toolText({ name, description, parameters }: Tool): string {
  const known = toolTexts.get(parameters);
  if (known && known.name === name && known.description === description) return known.text;
  const text = encodeJson({ name, description, input_schema: parameters });
  toolTexts.set(parameters, { name, description, text });
  return text;
}

function toolList(texts: readonly string[], mark: boolean): string {
  return texts.map((text, index) => (mark && index === texts.length - 1 ? marked(text) : text)).join(",");
}

/** Blocks with a cache mark as the last field of the last one, so that taking the mark away gives them as they were. */
function marked(blocks: string): string {
  return `${blocks.slice(0, -1)},${CACHE_MARK}}`;
}

/** The turns of the conversation: neighbours of one role are one message there, and the first is the user's. */
function turnList(encoded: readonly EncodedMessage[], mark: boolean): string {
  const shown = systemBehindUser(encoded.filter(({ blocks }) => blocks !== ""));
  const marks = mark ? userTurnEnds(shown) : [];
  let list = shown[0]?.role === "assistant" ? `{"role":"user","content":[${MISSING_START}` : "";
  for (const [index, { role, blocks }] of shown.entries()) {
    const joins = shown[index - 1]?.role === role;
    if (joins) list += ",";
    else list += `${list === "" ? "" : "]},"}{"role":"${role}","content":[`;
    list += marks.includes(index) ? marked(blocks) : blocks;
  }
  return list === "" ? "" : `${list}]}`;
}

/**
 * Messages of the system where the API takes them: one behind a turn of the user, before the model's turn or the end.
 * The session records them before the prompt that they come with, which is behind a turn of the model.
 *
 * https://platform.claude.com/docs/en/build-with-claude/mid-conversation-system-messages
 */
function systemBehindUser(messages: readonly EncodedMessage[]): EncodedMessage[] {
  const placed: EncodedMessage[] = [];
  let waiting: EncodedMessage[] = [];
  const place = () => {
    if (placed.at(-1)?.role === "user") placed.push(...waiting.splice(0));
  };
  for (const message of messages) {
    if (message.role === "system") {
      waiting = [...waiting, message];
      continue;
    }
    if (message.role === "assistant") place();
    placed.push(message);
  }
  place();
  return placed;
}

/**
 * Where the last two turns of the user end: the newest mark makes this request's cache, the one before it finds the
 * cache that the last request made.
 */
function userTurnEnds(shown: readonly EncodedMessage[]): number[] {
  const ends: number[] = [];
  for (let index = shown.length - 1; index >= 0 && ends.length < 2; index--) {
    if (shown[index]?.role === "user" && shown[index + 1]?.role !== "user") ends.push(index);
  }
  return ends;
}
