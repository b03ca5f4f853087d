import { isRecord } from "../stream/json.ts";
import { checkSchema, checkStrings, Findings, type Json, Pairing, type StrictRules } from "./strict-checker.ts";

// https://docs.anthropic.com/en/api/messages
const TOP_KEYS = [
  ...["model", "messages", "max_tokens", "system", "stream", "temperature", "top_p", "top_k", "stop_sequences"],
  ...["tools", "tool_choice", "thinking", "metadata", "service_tier", "output_config", "context_management"],
];

const BLOCK_KEYS: Record<string, readonly string[]> = {
  text: ["type", "text", "cache_control"],
  image: ["type", "source", "cache_control"],
  tool_result: ["type", "tool_use_id", "content", "is_error", "cache_control"],
  tool_use: ["type", "id", "name", "input", "cache_control"],
  thinking: ["type", "thinking", "signature"],
  redacted_thinking: ["type", "data"],
};

const BLOCKS_OF: Record<string, readonly string[]> = {
  user: ["text", "image", "tool_result"],
  assistant: ["text", "thinking", "redacted_thinking", "tool_use"],
  system: ["text"],
  tool_result: ["text", "image"],
};

const IMAGE_TYPES = ["image/jpeg", "image/png", "image/gif", "image/webp"];
const MIN_THINKING_BUDGET = 1024;
const MAX_BREAKPOINTS = 4;

interface Check {
  rules: StrictRules;
  findings: Findings;
  pairing: Pairing;
  breakpoints: number;
}

/** What a strict Messages server finds wrong with a request body; empty when it is valid. */
export function checkAnthropicRequest(body: unknown, rules: StrictRules = {}): string[] {
  const findings = new Findings();
  if (!findings.body(body, TOP_KEYS, rules)) return findings.list;
  const check: Check = { rules, findings, pairing: new Pairing(findings), breakpoints: 0 };
  checkStrings(body, "", findings);
  findings.filled(body.model, "model");
  checkLimits(body, findings);
  if (typeof body.system === "string") findings.filled(body.system, "system");
  else if ("system" in body) checkBlocks(body.system, "system", "system", check);
  if ("tools" in body) checkTools(body.tools, check);
  else if ("tool_choice" in body) findings.add("tool_choice", "only allowed with tools");
  if (findings.array(body.messages, "messages")) checkMessages(body.messages, check);
  if (check.breakpoints > MAX_BREAKPOINTS) {
    findings.add("cache_control", `at most ${MAX_BREAKPOINTS} blocks may have it, found ${check.breakpoints}`);
  }
  return findings.list;
}

function checkLimits(body: Json, findings: Findings): void {
  const max = body.max_tokens;
  if (typeof max !== "number" || !Number.isInteger(max) || max < 1)
    findings.add("max_tokens", "must be a positive integer");
  const thinking = body.thinking;
  if (!isRecord(thinking) || thinking.type === "disabled") return;
  const temperature = body.temperature;
  if (temperature !== undefined && temperature !== 1) findings.add("temperature", "must be 1 with thinking");
  if (thinking.type !== "enabled") return;
  const budget = thinking.budget_tokens;
  if (typeof budget !== "number" || budget < MIN_THINKING_BUDGET) {
    findings.add("thinking.budget_tokens", `must be at least ${MIN_THINKING_BUDGET}`);
  } else if (typeof max === "number" && max <= budget) {
    findings.add("max_tokens", "must be greater than thinking.budget_tokens");
  }
}

function checkTools(tools: unknown, check: Check): void {
  const { findings } = check;
  if (!findings.array(tools, "tools")) return;
  const names = new Set<unknown>();
  const keys = ["type", "name", "description", "input_schema", "cache_control", "strict", "eager_input_streaming"];
  for (const [index, tool] of tools.entries()) {
    const path = `tools[${index}]`;
    if (!findings.object(tool, path, keys)) continue;
    findings.toolName(tool.name, `${path}.name`);
    if (names.has(tool.name)) findings.add(`${path}.name`, `tool ${tool.name} is given twice`);
    names.add(tool.name);
    countBreakpoint(tool, path, check);
    const schema = tool.input_schema;
    checkSchema(schema, `${path}.input_schema`, check);
    for (const key of ["oneOf", "allOf", "anyOf"]) {
      if (isRecord(schema) && key in schema)
        findings.add(`${path}.input_schema.${key}`, "not allowed at the top level");
    }
  }
}

function countBreakpoint(block: Json, path: string, check: Check): void {
  if (!("cache_control" in block)) return;
  check.breakpoints++;
  const control = block.cache_control;
  if (!check.findings.object(control, `${path}.cache_control`, ["type", "ttl"])) return;
  if (control.type !== "ephemeral") check.findings.add(`${path}.cache_control.type`, `must be "ephemeral"`);
}

function checkMessages(messages: readonly unknown[], check: Check): void {
  const { findings, pairing } = check;
  let before: unknown;
  for (const [index, message] of messages.entries()) {
    const path = `messages[${index}]`;
    if (!findings.object(message, path, ["role", "content"])) continue;
    const role = message.role;
    if (role === "system" && check.rules.midSystem) {
      checkSystemPlace(messages, index, findings);
      continue;
    }
    if (role !== "user" && role !== "assistant") {
      findings.add(`${path}.role`, `unknown role ${JSON.stringify(role)}`);
      continue;
    }
    if (index === 0 && role !== "user") findings.add(path, "the first message must be the user's");
    if (role === before && !check.rules.repeatedRoles) findings.add(path, "roles must alternate");
    before = role;
    if (role === "assistant") pairing.settle(path);
    checkMessageContent(message.content, role, path, check);
  }
  pairing.settle("messages");
  if (before === "assistant") findings.add("messages", "the last message must not be the assistant's");
}

// https://platform.claude.com/docs/en/build-with-claude/mid-conversation-system-messages
function checkSystemPlace(messages: readonly unknown[], index: number, findings: Findings): void {
  const roleAt = (at: number) => (isRecord(messages[at]) ? messages[at].role : undefined);
  const path = `messages[${index}]`;
  if (roleAt(index - 1) !== "user") findings.add(path, "a system message must come directly after a user turn");
  if (index + 1 < messages.length && roleAt(index + 1) !== "assistant")
    findings.add(path, "a system message must be followed by an assistant turn or end the conversation");
}

function checkMessageContent(content: unknown, role: "user" | "assistant", path: string, check: Check): void {
  const { findings, pairing } = check;
  if (typeof content === "string") {
    if (content.trim() === "") findings.add(`${path}.content`, "must not be empty");
    if (role === "user") pairing.settle(path);
    return;
  }
  if (!checkBlocks(content, `${path}.content`, role, check)) return;
  if (role === "user") {
    checkUserOrder(content, path, check);
    return;
  }
  const last = content.at(-1);
  if (isRecord(last) && (last.type === "thinking" || last.type === "redacted_thinking")) {
    findings.add(path, "the final block of an assistant message must not be thinking");
  }
}

/** Results come first in the user's turn, and all that the turn before has asked for. */
function checkUserOrder(content: readonly unknown[], path: string, check: Check): void {
  let other = false;
  for (const [index, block] of content.entries()) {
    if (!isRecord(block)) continue;
    if (block.type !== "tool_result") other = true;
    else if (other) check.findings.add(`${path}.content[${index}]`, "tool results must come first");
    if (block.type === "tool_result") check.pairing.result(block.tool_use_id, `${path}.content[${index}]`);
  }
  check.pairing.settle(path);
}

function checkBlocks(content: unknown, path: string, owner: string, check: Check): content is unknown[] {
  const { findings } = check;
  if (!findings.array(content, path)) return false;
  for (const [index, block] of content.entries()) {
    const at = `${path}[${index}]`;
    const type = isRecord(block) ? block.type : undefined;
    const keys = typeof type === "string" && BLOCKS_OF[owner]?.includes(type) ? BLOCK_KEYS[type] : undefined;
    if (!keys) findings.add(`${at}.type`, `block ${JSON.stringify(type)} is not allowed here`);
    if (!keys || !findings.object(block, at, keys)) continue;
    countBreakpoint(block, at, check);
    BLOCK_CHECKS[String(type)]?.(block, at, check);
  }
  return true;
}

const BLOCK_CHECKS: Record<string, (block: Json, path: string, check: Check) => void> = {
  text(block, path, { findings }) {
    const value = block.text;
    if (typeof value !== "string" || value.trim() === "")
      findings.add(`${path}.text`, "must contain non-whitespace text");
  },
  image(block, path, { findings }) {
    const source = block.source;
    if (!findings.object(source, `${path}.source`, ["type", "media_type", "data", "url"])) return;
    if (source.type !== "base64") return;
    if (!IMAGE_TYPES.includes(String(source.media_type))) findings.add(`${path}.source.media_type`, "is not supported");
    findings.filled(source.data, `${path}.source.data`);
  },
  thinking(block, path, { findings, rules }) {
    if (typeof block.thinking !== "string") findings.add(`${path}.thinking`, "must be a string");
    const known = findings.filled(block.signature, `${path}.signature`) ? block.signature : undefined;
    if (known && rules.knownSignatures && !rules.knownSignatures.has(known)) {
      findings.add(`${path}.signature`, "Invalid `signature` in `thinking` block");
    }
  },
  redacted_thinking(block, path, { findings }) {
    findings.filled(block.data, `${path}.data`);
  },
  tool_use(block, path, { findings, rules, pairing }) {
    // regexp: the test that starts the server gives the pattern.
    findings.toolId(block.id, `${path}.id`, new RegExp(rules.toolIdPattern ?? "^[a-zA-Z0-9_-]{1,64}$"));
    pairing.call(block.id, `${path}.id`);
    findings.toolName(block.name, `${path}.name`);
    if (!isRecord(block.input)) findings.add(`${path}.input`, "must be an object");
  },
  tool_result(block, path, check) {
    const content = block.content;
    const empty = content === undefined || content === "" || (Array.isArray(content) && content.length === 0);
    if (empty && block.is_error === true) check.findings.add(`${path}.content`, "must not be empty with is_error");
    if (Array.isArray(content) && content.length > 0) checkBlocks(content, `${path}.content`, "tool_result", check);
  },
};
