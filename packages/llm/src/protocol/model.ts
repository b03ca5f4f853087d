/** How much the model is asked to think before it answers. */
export type ThinkingLevel = "off" | "minimal" | "low" | "medium" | "high" | "xhigh" | "max";

/** Prices in US dollars a million tokens. */
export interface TokenPrices {
  input: number;
  output: number;
  cacheRead: number;
  cacheWrite: number;
}

/** Prices of whole requests whose input, cached tokens included, has more than so many tokens. */
export interface PriceTier extends TokenPrices {
  inputTokensAbove: number;
}

export interface ModelCost extends TokenPrices {
  /** For long requests; of those that fit the one with the highest threshold holds. */
  tiers?: PriceTier[];
}

/** Fields of a request's body by name, beyond those of the API that tau fills. */
export type BodyFields = Record<string, unknown>;

/**
 * Verified differences of an endpoint from the API it speaks; each absent field means "as the API says".
 * Unknown fields are kept, so that a models.json of pi can be read and passed on.
 */
export interface Compat {
  /** openai-completions: send `stream_options.include_usage` (default true; retried without after a 400 about it). */
  supportsUsageInStreaming?: boolean;
  /** openai-completions: name of the output limit (default max_completion_tokens on api.openai.com, else max_tokens). */
  maxTokensField?: "max_tokens" | "max_completion_tokens";
  /** openai-completions: system prompt of reasoning models as role developer (default: only api.openai.com). */
  supportsDeveloperRole?: boolean;
  supportsReasoningEffort?: boolean;
  /** Shape of the thinking switch in the request. */
  thinkingFormat?: "openai" | "openrouter" | "deepseek" | "zai" | "qwen" | "qwen-chat-template";
  /** Tool results need the tool's name. */
  requiresToolResultName?: boolean;
  /** An assistant message is needed between tool results and a user message. */
  requiresAssistantAfterToolResult?: boolean;
  /** Empty string instead of null as the content of a message that has only tool calls. */
  requiresNonNullAssistantContent?: boolean;
  requiresThinkingAsText?: boolean;
  /** Tool call ids must match `^[A-Za-z0-9]{9}$` (Mistral templates). */
  requiresMistralToolIds?: boolean;
  supportsMidConvoSystemMessages?: boolean;
  supportsStrictMode?: boolean;
  cacheControlFormat?: "anthropic";
  [other: string]: unknown;
}

/** One model of one provider. Token numbers count tokens, `baseUrl` has no trailing slash and no path of the call. */
export interface Model {
  id: string;
  name: string;
  /** Wire API, e.g. `openai-completions`. */
  api: string;
  provider: string;
  baseUrl: string;
  reasoning: boolean;
  /** Provider value for each thinking level; null marks a level that the model does not have. */
  thinkingLevelMap?: Partial<Record<ThinkingLevel, string | null>>;
  input: ("text" | "image")[];
  cost: ModelCost;
  contextWindow: number;
  /** Largest output that may be asked for. */
  maxTokens: number;
  headers?: Record<string, string>;
  /** OpenAI's APIs: put into every request, such as `top_p`; those of the thinking level over those of the model. */
  samplingParams?: BodyFields;
  samplingParamsByThinkingLevel?: Partial<Record<ThinkingLevel, BodyFields>>;
  compat?: Compat;
}
