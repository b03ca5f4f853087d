import type { Compat, Model } from "../../protocol/model.ts";
import type { Adjustments, RequestStyle } from "../adjust/adjustments.ts";

/** How a server's thinking is switched; `openai` is `reasoning_effort`. */
export type ThinkingFormat =
  | "openai"
  | "openrouter"
  | "deepseek"
  | "together"
  | "zai"
  | "qwen"
  | "qwen-chat-template"
  | "chat-template"
  | "string-thinking";

/** What this API needs to know of a server, every question answered. */
export interface ServerTraits {
  usageInStreaming: boolean;
  finishReason: boolean;
  maxTokensField: "max_tokens" | "max_completion_tokens";
  developerRole: boolean;
  reasoningEffort: boolean;
  thinkingFormat: ThinkingFormat;
  toolResultName: boolean;
  assistantAfterToolResult: boolean;
  nonNullAssistantContent: boolean;
  toolsWithToolHistory: boolean;
  thinkingAsText: boolean;
  reasoningOnAssistant: boolean;
  /** Takes the model's own thinking back. */
  reasoningBack: boolean;
  /** Tool calls without a signature get the placeholder (Gemini 3). */
  callSignatures: boolean;
  mistralToolIds: boolean;
  midConversationSystem: boolean;
  strictMode: boolean;
  anthropicCache: boolean;
  /** Dialect of the tool schemas. */
  schema: "openai" | "google";
  /** Sends `prompt_cache_key`. */
  cacheKey: boolean;
  /** Header that keeps a session on one machine. */
  affinity: "none" | "openrouter" | "openai" | "openai-nosession";
  /** A key is needed: without one the request would fail anyway. */
  needsKey: boolean;
  chatTemplateKwargs: Record<string, unknown>;
}

const STANDARD: ServerTraits = {
  usageInStreaming: true,
  finishReason: true,
  maxTokensField: "max_tokens",
  developerRole: false,
  reasoningEffort: true,
  thinkingFormat: "openai",
  toolResultName: false,
  assistantAfterToolResult: false,
  nonNullAssistantContent: false,
  toolsWithToolHistory: false,
  thinkingAsText: false,
  reasoningOnAssistant: false,
  reasoningBack: true,
  callSignatures: false,
  mistralToolIds: false,
  midConversationSystem: false,
  strictMode: false,
  anthropicCache: false,
  schema: "openai",
  cacheKey: false,
  affinity: "none",
  needsKey: false,
  chatTemplateKwargs: {},
};

/** Gemini from version 3 on, under any vendor's name for it. */
const SIGNS_CALLS = /gemini-(?:[3-9]|\d\d)/i;

/** Servers that differ from the standard, by the end of their host name. */
const SERVERS: readonly { host: string; traits: Partial<ServerTraits> }[] = [
  {
    host: "api.openai.com",
    traits: { maxTokensField: "max_completion_tokens", developerRole: true, cacheKey: true, needsKey: true },
  },
  { host: "openai.azure.com", traits: { maxTokensField: "max_completion_tokens", needsKey: true } },
  { host: "openrouter.ai", traits: { thinkingFormat: "openrouter", affinity: "openrouter", needsKey: true } },
  { host: "api.deepseek.com", traits: { thinkingFormat: "deepseek", reasoningOnAssistant: true, needsKey: true } },
  { host: "api.mistral.ai", traits: { mistralToolIds: true, reasoningEffort: false, needsKey: true } },
  { host: "api.together.xyz", traits: { thinkingFormat: "together", reasoningEffort: false, needsKey: true } },
  { host: "api.z.ai", traits: { thinkingFormat: "zai", reasoningEffort: false, needsKey: true } },
  { host: "bigmodel.cn", traits: { thinkingFormat: "zai", reasoningEffort: false, needsKey: true } },
  { host: "aliyuncs.com", traits: { thinkingFormat: "qwen", reasoningEffort: false, needsKey: true } },
  { host: "api.x.ai", traits: { reasoningEffort: false, needsKey: true } },
  { host: "api.groq.com", traits: { maxTokensField: "max_completion_tokens", needsKey: true } },
  { host: "api.cerebras.ai", traits: { maxTokensField: "max_completion_tokens", needsKey: true } },
  { host: "generativelanguage.googleapis.com", traits: { schema: "google", needsKey: true } },
  { host: "api.fireworks.ai", traits: { needsKey: true } },
];

/** Names of pi's compat fields for the traits they decide. */
const FIELDS: Partial<Record<keyof ServerTraits, string>> = {
  usageInStreaming: "supportsUsageInStreaming",
  finishReason: "supportsFinishReason",
  developerRole: "supportsDeveloperRole",
  reasoningEffort: "supportsReasoningEffort",
  toolResultName: "requiresToolResultName",
  assistantAfterToolResult: "requiresAssistantAfterToolResult",
  nonNullAssistantContent: "requiresNonNullAssistantContent",
  toolsWithToolHistory: "requiresToolsWithToolHistory",
  thinkingAsText: "requiresThinkingAsText",
  reasoningOnAssistant: "requiresReasoningContentOnAssistantMessages",
  mistralToolIds: "requiresMistralToolIds",
  midConversationSystem: "supportsMidConvoSystemMessages",
  strictMode: "supportsStrictMode",
};

const known = new WeakMap<Model, ServerTraits>();

/** The traits of a model's server: the standard, what its host is known for, and the model's `compat` on top. */
export function traitsOf(model: Model): ServerTraits {
  let traits = known.get(model);
  if (!traits) {
    traits = { ...STANDARD, ...serverOf(model), ...declared(model.compat ?? {}) };
    known.set(model, traits);
  }
  return traits;
}

function serverOf(model: Model): Partial<ServerTraits> {
  const host = URL.canParse(model.baseUrl) ? new URL(model.baseUrl).hostname : "";
  const server = SERVERS.find((row) => host === row.host || host.endsWith(`.${row.host}`));
  const anthropic = server?.host === "openrouter.ai" && model.id.startsWith("anthropic/");
  const traits: Partial<ServerTraits> = { ...server?.traits, callSignatures: SIGNS_CALLS.test(model.id) };
  if (anthropic) traits.anthropicCache = true;
  return traits;
}

const STYLE_TRAITS: Partial<Record<RequestStyle, Partial<ServerTraits>>> = {
  "system-role": { developerRole: false },
  "no-cache-marks": { anthropicCache: false },
  "no-strict-tools": { strictMode: false },
  "empty-reasoning": { reasoningOnAssistant: true },
  "no-reasoning": { reasoningBack: false },
  "answer-after-results": { assistantAfterToolResult: true },
  "short-tool-ids": { mistralToolIds: true },
  "text-beside-calls": { nonNullAssistantContent: true },
  "tools-with-results": { toolsWithToolHistory: true },
  "placeholder-signatures": { callSignatures: true },
};

/** The traits as the server's refusals showed them to be. */
export function adjustedTraits(traits: ServerTraits, { styles }: Pick<Adjustments, "styles">): ServerTraits {
  if (styles.size === 0) return traits;
  return Object.assign({ ...traits }, ...[...styles].map((style) => STYLE_TRAITS[style]));
}

function declared(compat: Compat): Partial<ServerTraits> {
  const traits: Record<string, unknown> = {};
  for (const [trait, field] of Object.entries(FIELDS)) {
    if (typeof compat[field] === "boolean") traits[trait] = compat[field];
  }
  if (compat.maxTokensField) traits.maxTokensField = compat.maxTokensField;
  if (compat.thinkingFormat) traits.thinkingFormat = compat.thinkingFormat;
  if (compat.cacheControlFormat === "anthropic") traits.anthropicCache = true;
  if (compat.promptCacheKeyMode === "enabled") traits.cacheKey = true;
  if (compat.promptCacheKeyMode === "disabled") traits.cacheKey = false;
  if (compat.sendSessionAffinityHeaders === false) traits.affinity = "none";
  else if (typeof compat.sessionAffinityFormat === "string") traits.affinity = compat.sessionAffinityFormat;
  else if (compat.sendSessionAffinityHeaders === true) traits.affinity = "openai";
  if (compat.chatTemplateKwargs) traits.chatTemplateKwargs = compat.chatTemplateKwargs;
  return traits;
}
