import { isRecord } from "../stream/json.ts";
import { checkSchema, checkStrings, Findings, type Json, Pairing, type StrictRules } from "./strict-checker.ts";

// https://platform.openai.com/docs/api-reference/responses/create
const TOP_KEYS = [
  ...["model", "input", "instructions", "stream", "stream_options", "store", "include", "max_output_tokens"],
  ...["temperature", "top_p", "tools", "tool_choice", "parallel_tool_calls", "max_tool_calls", "reasoning", "text"],
  ...["truncation", "prompt_cache_key", "prompt_cache_retention", "safety_identifier", "service_tier", "metadata"],
];

const ITEM_KEYS: Record<string, readonly string[]> = {
  message: ["type", "id", "role", "status", "phase", "content"],
  function_call: ["type", "id", "call_id", "name", "arguments", "status"],
  function_call_output: ["type", "id", "call_id", "output", "status"],
  reasoning: ["type", "id", "summary", "content", "encrypted_content", "status"],
};

const EFFORTS = ["none", "minimal", "low", "medium", "high", "xhigh", "max"];
const SYSTEM_ROLES = ["system", "developer"];
const PHASES = ["commentary", "final_answer"];
const MIN_OUTPUT = 16;
const CACHE_KEY_CHARS = 64;

interface Check {
  rules: StrictRules;
  findings: Findings;
  pairing: Pairing;
  /** Ids of items so far: no two have the same. */
  ids: Set<unknown>;
  /** Results have come since the last call: the model's next item begins another turn. */
  answering: boolean;
  /** The place of reasoning that nothing of the model follows yet. */
  reasoning: string | undefined;
  begun: boolean;
  last: unknown;
}

/** What a strict Responses server that stores nothing finds wrong with a request body; empty when it is valid. */
export function checkResponsesRequest(body: unknown, rules: StrictRules = {}): string[] {
  const findings = new Findings();
  if (!findings.body(body, TOP_KEYS, rules)) return findings.list;
  checkStrings(body, "", findings);
  findings.filled(body.model, "model");
  checkFields(body, findings);
  if ("tools" in body) checkTools(body.tools, { rules, findings });
  else if ("tool_choice" in body) findings.add("tool_choice", "only allowed with tools");
  if (typeof body.input === "string") findings.filled(body.input, "input");
  else if (findings.array(body.input, "input")) checkInput(body.input, rules, findings);
  return findings.list;
}

function checkFields(body: Json, findings: Findings): void {
  const { max_output_tokens: limit, reasoning, include, prompt_cache_key: key } = body;
  if (body.store !== false) findings.add("store", "must be false: nothing of a session is to stay at the server");
  if ("instructions" in body) findings.filled(body.instructions, "instructions");
  if (limit !== undefined && !(typeof limit === "number" && Number.isInteger(limit) && limit >= MIN_OUTPUT))
    findings.add("max_output_tokens", `must be a whole number of at least ${MIN_OUTPUT}`);
  if (key !== undefined && findings.filled(key, "prompt_cache_key") && key.length > CACHE_KEY_CHARS)
    findings.add("prompt_cache_key", `must have at most ${CACHE_KEY_CHARS} characters`);
  if (include !== undefined && JSON.stringify(include) !== '["reasoning.encrypted_content"]')
    findings.add("include", "holds what was not asked for");
  if (reasoning === undefined || !findings.object(reasoning, "reasoning", ["effort", "summary"])) return;
  const { effort } = reasoning;
  if (effort !== undefined && !EFFORTS.includes(String(effort))) findings.add("reasoning.effort", "is not supported");
  if (body.temperature !== undefined) findings.add("temperature", "is not supported with reasoning");
}

function checkTools(tools: unknown, check: { rules: StrictRules; findings: Findings }): void {
  const { findings } = check;
  if (!findings.array(tools, "tools")) return;
  const names = new Set<unknown>();
  for (const [index, tool] of tools.entries()) {
    const path = `tools[${index}]`;
    if (!findings.object(tool, path, ["type", "name", "description", "parameters", "strict"])) continue;
    if (tool.type !== "function") findings.add(`${path}.type`, `must be "function"`);
    const unstated = check.rules.unstatedStrictness && (tool.strict === undefined || tool.strict === null);
    if (tool.strict !== false && !unstated) findings.add(`${path}.strict`, "must be false: the schema is not strict");
    findings.toolName(tool.name, `${path}.name`);
    if (names.has(tool.name)) findings.add(`${path}.name`, `tool ${tool.name} is given twice`);
    names.add(tool.name);
    checkSchema(tool.parameters, `${path}.parameters`, check);
  }
}

function checkInput(input: readonly unknown[], rules: StrictRules, findings: Findings): void {
  const check: Check = {
    ...{ rules, findings, pairing: new Pairing(findings), ids: new Set<unknown>() },
    ...{ answering: false, reasoning: undefined, begun: false, last: undefined },
  };
  for (const [index, item] of input.entries()) checkItem(item, `input[${index}]`, check);
  endReasoning(check);
  check.pairing.settle("input");
  if (!check.begun) findings.add("input", "no user message");
  if (check.last === "assistant") findings.add("input", "the last item must not be the model's");
}

function checkItem(item: unknown, path: string, check: Check): void {
  const { findings } = check;
  const type = isRecord(item) ? (item.type ?? "message") : undefined;
  const keys = typeof type === "string" ? ITEM_KEYS[type] : undefined;
  if (!keys) findings.add(`${path}.type`, `unknown item ${JSON.stringify(type)}`);
  if (!keys || !findings.object(item, path, keys)) return;
  if (item.id !== undefined && check.ids.has(item.id)) findings.add(`${path}.id`, `id ${item.id} is used twice`);
  if (item.id !== undefined) check.ids.add(item.id);
  check.last = type === "message" ? item.role : type === "function_call_output" ? "tool" : "assistant";
  if (check.last === "assistant") ownItem(type === "reasoning", path, check);
  else endReasoning(check);
  ITEM_CHECKS[String(type)]?.(item, path, check);
}

/** Items of the model begin a new turn when the results of the one before are there. */
function ownItem(reasoning: boolean, path: string, check: Check): void {
  if (check.answering) check.pairing.settle(path);
  check.answering = false;
  check.reasoning = reasoning ? path : undefined;
}

function endReasoning(check: Check): void {
  if (check.reasoning) check.findings.add(check.reasoning, "reasoning without the item that must follow it");
  check.reasoning = undefined;
}

const ITEM_CHECKS: Record<string, (item: Json, path: string, check: Check) => void> = {
  message(item, path, check) {
    const { findings, pairing, rules } = check;
    if (item.role === "assistant") {
      checkAnswer(item, path, findings);
      return;
    }
    pairing.settle(path);
    const system = SYSTEM_ROLES.includes(String(item.role));
    if (!system && item.role !== "user") findings.add(`${path}.role`, `unknown role ${JSON.stringify(item.role)}`);
    if (system && check.begun && !rules.midSystem)
      findings.add(path, "system message after the conversation has begun");
    if (!system) check.begun = true;
    checkParts(item.content, `${path}.content`, { images: !system, findings });
  },
  function_call(item, path, { findings, pairing, rules }) {
    if (item.id !== undefined) checkId(item.id, `${path}.id`, "fc", findings);
    // regexp: the test that starts the server gives the pattern.
    findings.toolId(item.call_id, `${path}.call_id`, new RegExp(rules.toolIdPattern ?? "^[^]{1,64}$"));
    pairing.call(item.call_id, `${path}.call_id`);
    findings.toolName(item.name, `${path}.name`);
    checkArguments(item.arguments, `${path}.arguments`, findings);
  },
  function_call_output(item, path, check) {
    check.answering = true;
    check.pairing.result(item.call_id, path);
    checkParts(item.output, `${path}.output`, { images: true, findings: check.findings });
  },
  reasoning(item, path, { findings, rules }) {
    checkId(item.id, `${path}.id`, "rs", findings);
    if (!Array.isArray(item.summary)) findings.add(`${path}.summary`, "must be an array");
    if (rules.plainReasoning && item.encrypted_content === undefined) return;
    if (Array.isArray(item.content) && item.content.length > 0) findings.add(`${path}.content`, "must be empty");
    const known = findings.filled(item.encrypted_content, `${path}.encrypted_content`) ? item.encrypted_content : "";
    if (known && rules.knownSignatures && !rules.knownSignatures.has(known))
      findings.add(`${path}.encrypted_content`, "could not be verified (invalid_encrypted_content)");
  },
};

function checkAnswer(item: Json, path: string, findings: Findings): void {
  if (item.phase !== undefined && !PHASES.includes(String(item.phase))) findings.add(`${path}.phase`, "is unknown");
  if (typeof item.content === "string") {
    findings.filled(item.content, `${path}.content`);
    return;
  }
  // An output message that goes back as it came has all its fields.
  checkId(item.id, `${path}.id`, "msg", findings);
  findings.filled(item.status, `${path}.status`);
  if (!findings.array(item.content, `${path}.content`)) return;
  for (const [index, part] of item.content.entries()) {
    const at = `${path}.content[${index}]`;
    if (!findings.object(part, at, ["type", "text", "annotations", "logprobs"])) continue;
    if (part.type !== "output_text")
      findings.add(`${at}.type`, `part ${JSON.stringify(part.type)} is not allowed here`);
    if (!Array.isArray(part.annotations)) findings.add(`${at}.annotations`, "must be an array");
    findings.filled(part.text, `${at}.text`);
  }
}

function checkId(id: unknown, path: string, prefix: string, findings: Findings): void {
  if (findings.filled(id, path) && (!id.startsWith(prefix) || id.length > 64))
    findings.add(path, `id ${id} must begin with '${prefix}' and have at most 64 characters`);
}

function checkArguments(value: unknown, path: string, findings: Findings): void {
  if (!findings.filled(value, path)) return;
  try {
    if (!isRecord(JSON.parse(value))) findings.add(path, "must be a JSON object");
  } catch {
    findings.add(path, `is not valid JSON: ${value.slice(0, 80)}`);
  }
}

function checkParts(
  content: unknown,
  path: string,
  { images, findings }: { images: boolean; findings: Findings },
): void {
  if (typeof content === "string") {
    findings.filled(content, path);
    return;
  }
  if (!findings.array(content, path)) return;
  for (const [index, part] of content.entries()) {
    const at = `${path}[${index}]`;
    const type = isRecord(part) ? part.type : undefined;
    if (type === "input_text" && findings.object(part, at, ["type", "text"])) findings.filled(part.text, `${at}.text`);
    else if (type === "input_image" && images && findings.object(part, at, ["type", "image_url", "file_id", "detail"]))
      checkUrl(part.image_url, `${at}.image_url`, findings);
    else if (type !== "input_text") findings.add(`${at}.type`, `part ${JSON.stringify(type)} is not allowed here`);
  }
}

function checkUrl(url: unknown, path: string, findings: Findings): void {
  if (!findings.filled(url, path)) return;
  if (!/^https?:\/\/|^data:image\/[a-z+.-]+;base64,[A-Za-z0-9+/]+=*$/.test(url))
    findings.add(path, "is not an image URL");
}
