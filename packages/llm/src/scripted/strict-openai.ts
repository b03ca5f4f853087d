import { isRecord } from "../stream/json.ts";
import { checkSchema, checkStrings, Findings, type Json, Pairing, type StrictRules } from "./strict-checker.ts";

// https://platform.openai.com/docs/api-reference/chat/create
const TOP_KEYS = [
  ...["model", "messages", "stream", "stream_options", "max_tokens", "max_completion_tokens", "temperature", "top_p"],
  ...["tools", "tool_choice", "parallel_tool_calls", "stop", "seed", "n", "frequency_penalty", "presence_penalty"],
  ...["response_format", "reasoning_effort", "prompt_cache_key", "prompt_cache_retention", "user", "store", "metadata"],
  ...["service_tier", "verbosity", "safety_identifier", "logit_bias", "logprobs", "top_logprobs"],
];

// The names under which compatible servers take a model's own reasoning back.
const REASONING_KEYS = ["reasoning_content", "reasoning", "reasoning_text", "reasoning_details"];

const ROLE_KEYS: Record<string, readonly string[]> = {
  system: ["role", "content", "name"],
  developer: ["role", "content", "name"],
  user: ["role", "content", "name"],
  assistant: ["role", "content", "name", "refusal", "tool_calls", ...REASONING_KEYS],
  tool: ["role", "content", "tool_call_id", "name"],
};

/** What a strict chat-completions server finds wrong with a request body; empty when it is valid. */
export function checkOpenAIRequest(body: unknown, rules: StrictRules = {}): string[] {
  const findings = new Findings();
  if (!findings.body(body, TOP_KEYS, rules)) return findings.list;
  checkStrings(body, "", findings);
  findings.filled(body.model, "model");
  if ("max_tokens" in body && "max_completion_tokens" in body) findings.add("max_tokens", "given twice");
  if ("stream_options" in body) findings.object(body.stream_options, "stream_options", ["include_usage"]);
  if ("tools" in body) checkTools(body.tools, rules, findings);
  else if ("tool_choice" in body) findings.add("tool_choice", "only allowed with tools");
  if (findings.array(body.messages, "messages")) checkMessages(body.messages, rules, findings);
  return findings.list;
}

function checkTools(tools: unknown, rules: StrictRules, findings: Findings): void {
  if (!findings.array(tools, "tools")) return;
  const names = new Set<unknown>();
  for (const [index, tool] of tools.entries()) {
    const path = `tools[${index}]`;
    if (!findings.object(tool, path, ["type", "function"])) continue;
    if (tool.type !== "function") findings.add(`${path}.type`, `must be "function"`);
    const definition = tool.function;
    if (!findings.object(definition, `${path}.function`, ["name", "description", "parameters", "strict"])) continue;
    findings.toolName(definition.name, `${path}.function.name`);
    if (names.has(definition.name)) findings.add(`${path}.function.name`, `tool ${definition.name} is given twice`);
    names.add(definition.name);
    if ("parameters" in definition) {
      checkSchema(definition.parameters, `${path}.function.parameters`, { rules, findings });
    }
  }
}

function checkMessages(messages: readonly unknown[], rules: StrictRules, findings: Findings): void {
  const pairing = new Pairing(findings);
  let begun = false;
  let last: unknown;
  for (const [index, message] of messages.entries()) {
    const path = `messages[${index}]`;
    const role = isRecord(message) ? message.role : undefined;
    const keys = typeof role === "string" ? ROLE_KEYS[role] : undefined;
    if (!keys) findings.add(`${path}.role`, `unknown role ${JSON.stringify(role)}`);
    if (!keys || !findings.object(message, path, keys)) continue;
    last = role;
    if (role === "tool") pairing.result(message.tool_call_id, path);
    else pairing.settle(path);
    const system = role === "system" || role === "developer";
    if (system && begun && !rules.midSystem) findings.add(path, "system message after the conversation has begun");
    if (!system) begun = true;
    if (role === "assistant") checkAssistant(message, { path, rules, findings, pairing });
    else checkContent(message.content, `${path}.content`, { images: role === "user", findings });
  }
  pairing.settle("messages");
  if (!begun) findings.add("messages", "no user message");
  if (last === "assistant") findings.add("messages", "the last message must not be the assistant's");
}

function checkAssistant(
  message: Json,
  { path, rules, findings, pairing }: { path: string; rules: StrictRules; findings: Findings; pairing: Pairing },
): void {
  const calls = message.tool_calls;
  const content = message.content;
  if (content !== null && content !== undefined) {
    if (content !== "" || calls === undefined) {
      checkContent(content, `${path}.content`, { images: false, findings });
      if (content === "") findings.add(`${path}.content`, "must not be empty without tool_calls");
    }
  } else if (calls === undefined) {
    findings.add(`${path}.content`, "must not be null without tool_calls");
  }
  if (calls === undefined || !findings.array(calls, `${path}.tool_calls`)) return;
  // regexp: the test that starts the server gives the pattern.
  const pattern = new RegExp(rules.toolIdPattern ?? "^[^]{1,40}$");
  for (const [index, call] of calls.entries()) {
    const at = `${path}.tool_calls[${index}]`;
    if (!findings.object(call, at, ["id", "type", "function"])) continue;
    findings.toolId(call.id, `${at}.id`, pattern);
    pairing.call(call.id, `${at}.id`);
    if (call.type !== "function") findings.add(`${at}.type`, `must be "function"`);
    const target = call.function;
    if (!findings.object(target, `${at}.function`, ["name", "arguments"])) continue;
    findings.toolName(target.name, `${at}.function.name`);
    checkArguments(target.arguments, `${at}.function.arguments`, findings);
  }
}

function checkArguments(value: unknown, path: string, findings: Findings): void {
  if (!findings.filled(value, path)) return;
  try {
    if (!isRecord(JSON.parse(value))) findings.add(path, "must be a JSON object");
  } catch {
    findings.add(path, `is not valid JSON: ${value.slice(0, 80)}`);
  }
}

function checkContent(
  content: unknown,
  path: string,
  { images, findings }: { images: boolean; findings: Findings },
): void {
  if (typeof content === "string") return;
  if (!findings.array(content, path)) return;
  for (const [index, part] of content.entries()) {
    const at = `${path}[${index}]`;
    const type = isRecord(part) ? part.type : undefined;
    if (type === "text" && findings.object(part, at, ["type", "text", "cache_control"])) {
      findings.filled(part.text, `${at}.text`);
    } else if (type === "image_url" && images && findings.object(part, at, ["type", "image_url"])) {
      const image = part.image_url;
      if (findings.object(image, `${at}.image_url`, ["url", "detail"]))
        checkUrl(image.url, `${at}.image_url.url`, findings);
    } else {
      findings.add(`${at}.type`, `part ${JSON.stringify(type)} is not allowed here`);
    }
  }
}

function checkUrl(url: unknown, path: string, findings: Findings): void {
  if (!findings.filled(url, path)) return;
  if (!/^https?:\/\/|^data:image\/[a-z+.-]+;base64,[A-Za-z0-9+/]+=*$/.test(url))
    findings.add(path, "is not an image URL");
}
