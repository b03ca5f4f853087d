import { isRecord, parseJson, writeJson } from "../../stream/json.ts";

/** A call that a model wrote as text; `args` is JSON text. */
export interface WrittenCall {
  name: string;
  args: string;
}

/** How a form of written calls begins. `speaks`: it may hold speech as well, so that it need not be a call. */
export interface CallMarker {
  text: string;
  speaks?: boolean;
}

/** The forms that models are trained on; a server that does not know its model's form passes it on as text (R208). */
export const CALL_MARKERS: readonly CallMarker[] = [
  // Hermes, Qwen, GLM and their derivatives.
  { text: "<tool_call>" },
  { text: "<tool_calls>" },
  { text: "<function_call>" },
  // Qwen Coder, Llama.
  { text: "<function=" },
  // Anthropic's older form, Minimax.
  { text: "<function_calls>" },
  { text: "<invoke name=" },
  { text: "<minimax:tool_call>" },
  // DeepSeek since V3.2.
  { text: "<｜DSML｜function_calls>" },
  { text: "<｜DSML｜tool_calls>" },
  { text: "<｜DSML｜invoke name=" },
  // Mistral.
  { text: "[TOOL_CALLS]" },
  // Granite, Llama, Kimi, DeepSeek.
  { text: "<|tool_call|>" },
  { text: "<|python_tag|>" },
  { text: "<|tool_call_begin|>" },
  { text: "<|tool_calls_section_begin|>" },
  { text: "<｜tool▁calls▁begin｜>" },
  { text: "<｜tool▁call▁begin｜>" },
  // gpt-oss: channels, of which some are calls.
  { text: "<|channel|>", speaks: true },
  { text: "<|start|>", speaks: true },
];

// Literal tags only, so that the cost is linear in the text.
const TAGS =
  /<\/?(?:minimax:)?tool_calls?>|<\/?function_calls?>|\[TOOL_CALLS\]|\[ARGS\]|<\|(?:tool_calls?|python_tag|tool_call_begin|tool_call_argument_begin|tool_call_end|tool_calls_section_begin|tool_calls_section_end|channel|message|constrain|call|start|end|return|im_end|eom_id|eot_id)\|>|<｜tool▁(?:calls▁begin|calls▁end|call▁begin|call▁end|sep)｜>/;

const NAME = /^[A-Za-z0-9_.:/-]{1,128}$/;
/** Words of headers that are not the name of a tool. */
const HEADER_WORDS = new Set(["assistant", "commentary", "analysis", "final", "function", "json", "code"]);
const RECIPIENT = "to=";
const ARGUMENT_FIELDS = ["arguments", "parameters", "args", "input"];

/**
 * The calls of a text that begins with this marker; undefined when it is not made of whole calls and nothing else.
 * Beside the calls of a form with channels its thoughts are passed over.
 */
export function readWrittenCalls(text: string, { speaks = false }: CallMarker): WrittenCall[] | undefined {
  const plain = text.replaceAll(DSML, "");
  const calls = hasTaggedFields(plain) ? taggedCalls(plain) : jsonCalls(plain, speaks);
  return calls && calls.length > 0 ? calls : undefined;
}

/** Segments between tags: JSON values that name their tool, or a name and then its arguments. */
function jsonCalls(text: string, speaks: boolean): WrittenCall[] | undefined {
  const calls: WrittenCall[] = [];
  let name: string | undefined;
  for (const segment of text.split(TAGS).flatMap(headAndBody)) {
    if (!isJsonText(segment)) {
      const head = headerName(segment);
      if (head === undefined && !speaks && !isHeader(segment)) return undefined;
      name = head ?? name;
      continue;
    }
    const found = callsIn(parseJson(segment), name);
    if (!found) return undefined;
    calls.push(...found);
    name = undefined;
  }
  // A name whose arguments never came is half a call.
  return name === undefined ? calls : undefined;
}

/** The trimmed parts of a segment that may have a name before its JSON, as `bash{"command":"ls"}`, some in a fence. */
function headAndBody(segment: string): string[] {
  const text = segment.trim();
  const at = text.indexOf("{");
  const parts = at > 0 && !text.startsWith("[") ? [text.slice(0, at), text.slice(at)] : [text];
  return parts.map((part) => part.replaceAll("```json", "").replaceAll("```", "").trim()).filter((part) => part !== "");
}

const isJsonText = (text: string) => text.startsWith("{") || text.startsWith("[");

function isHeader(segment: string): boolean {
  return segment.length < 200 && segment.split(/\s/).every((word) => word === "" || HEADER_WORDS.has(word));
}

function headerName(segment: string): string | undefined {
  if (segment.length > 200) return undefined;
  const words = segment.split(/\s/).filter((word) => word !== "" && !HEADER_WORDS.has(word));
  const word = words.find((part) => part.startsWith(RECIPIENT))?.slice(RECIPIENT.length) ?? words[0];
  if (word === undefined || (words.length > 1 && !segment.includes(RECIPIENT))) return undefined;
  return NAME.test(word) ? word : undefined;
}

function callsIn(value: unknown, name: string | undefined): WrittenCall[] | undefined {
  if (Array.isArray(value)) {
    const calls = value.map((entry) => callsIn(entry, undefined));
    return calls.every((found) => found !== undefined) ? calls.flat() : undefined;
  }
  if (!isRecord(value)) return undefined;
  if (name !== undefined) return [{ name, args: writeJson(value) ?? "" }];
  const inner = isRecord(value.function) ? value.function : value;
  if (typeof inner.name !== "string" || inner.name === "") return undefined;
  const field = ARGUMENT_FIELDS.find((key) => Object.hasOwn(inner, key));
  const args = field === undefined ? {} : inner[field];
  return [{ name: inner.name, args: typeof args === "string" ? args : (writeJson(args) ?? "") }];
}

/** What DeepSeek writes at the head of each tag. */
const DSML = "｜DSML｜";
const FUNCTION_STARTS = ["<function=", "<invoke name="];
const PARAMETER_STARTS = ["<parameter=", "<parameter name="];
/** Says whether a value is a text or JSON; the schema of the tool says it too. */
const TYPE_MARK = / string="(?:true|false)"$/;
const KEY_TAG = "<arg_key>";

function hasTaggedFields(text: string): boolean {
  return text.includes(KEY_TAG) || FUNCTION_STARTS.some((start) => text.includes(start));
}

/** Calls whose parameters have a tag each. Values are texts; the tool's schema says what they mean. */
function taggedCalls(text: string): WrittenCall[] | undefined {
  const calls: WrittenCall[] = [];
  const rest = text.replaceAll("</invoke>", "</function>");
  const bodies = rest.split(rest.includes(KEY_TAG) ? "</tool_call>" : "</function>");
  for (const body of bodies) {
    if (body.split(TAGS).every((part) => part.trim() === "")) continue;
    const call = body.includes(KEY_TAG) ? keyedCall(body) : functionCall(body);
    if (!call) return undefined;
    calls.push(call);
  }
  return calls;
}

/** GLM: a name, then keys and values in turn. */
function keyedCall(body: string): WrittenCall | undefined {
  const [head = "", ...pairs] = body.split(KEY_TAG);
  const name = headerName(head.split(TAGS).join(" ").trim());
  const values: [string, string][] = [];
  for (const pair of pairs) {
    const [key, value] = pair.split("</arg_key>");
    const start = value?.indexOf("<arg_value>") ?? -1;
    const end = value?.lastIndexOf("</arg_value>") ?? -1;
    if (key === undefined || value === undefined || start < 0 || end < start) return undefined;
    values.push([key.trim(), value.slice(start + "<arg_value>".length, end)]);
  }
  return name === undefined ? undefined : { name, args: JSON.stringify(Object.fromEntries(values)) };
}

function functionCall(body: string): WrittenCall | undefined {
  const start = FUNCTION_STARTS.find((tag) => body.includes(tag));
  if (start === undefined) return undefined;
  const from = body.indexOf(start);
  const headEnd = body.indexOf(">", from);
  const name = unquoted(body.slice(from + start.length, headEnd));
  if (
    headEnd < 0 ||
    !NAME.test(name) ||
    body
      .slice(0, from)
      .split(TAGS)
      .some((part) => part.trim() !== "")
  ) {
    return undefined;
  }
  const inner = body.slice(headEnd + 1).trim();
  if (inner.startsWith("{")) return isRecord(parseJson(inner)) ? { name, args: inner } : undefined;
  const values = parameters(inner);
  return values && { name, args: JSON.stringify(values) };
}

function parameters(inner: string): Record<string, string> | undefined {
  const values: [string, string][] = [];
  for (const part of inner.split("</parameter>")) {
    const text = part.trimStart();
    if (text === "") continue;
    const start = PARAMETER_STARTS.find((tag) => text.startsWith(tag));
    const headEnd = text.indexOf(">");
    if (start === undefined || headEnd < 0) return undefined;
    // The lines of the tags are not part of the value.
    const value = text.slice(headEnd + 1);
    const from = value.startsWith("\n") ? 1 : 0;
    const to = value.endsWith("\n") && value.length > from ? value.length - 1 : value.length;
    values.push([unquoted(text.slice(start.length, headEnd).replace(TYPE_MARK, "")), value.slice(from, to)]);
  }
  return Object.fromEntries(values);
}

function unquoted(text: string): string {
  return text.startsWith('"') && text.endsWith('"') && text.length > 1 ? text.slice(1, -1) : text;
}
