/** A variable that holds the key of a provider; `bearer` keys go out as `Authorization: Bearer`. */
export interface EnvironmentKey {
  name: string;
  bearer?: boolean;
}

/** Provider to the variables that may hold its key, the first that is set wins. */
export const ENVIRONMENT_KEYS: Readonly<Record<string, readonly EnvironmentKey[]>> = {
  anthropic: [
    { name: "ANTHROPIC_OAUTH_TOKEN" },
    { name: "ANTHROPIC_API_KEY" },
    { name: "ANTHROPIC_AUTH_TOKEN", bearer: true },
  ],
  openai: [{ name: "OPENAI_API_KEY" }],
  google: [{ name: "GEMINI_API_KEY" }, { name: "GOOGLE_API_KEY" }],
  openrouter: [{ name: "OPENROUTER_API_KEY" }],
  groq: [{ name: "GROQ_API_KEY" }],
  deepseek: [{ name: "DEEPSEEK_API_KEY" }],
  xai: [{ name: "XAI_API_KEY" }],
  mistral: [{ name: "MISTRAL_API_KEY" }],
  together: [{ name: "TOGETHER_API_KEY" }],
  cerebras: [{ name: "CEREBRAS_API_KEY" }],
  fireworks: [{ name: "FIREWORKS_API_KEY" }],
  moonshotai: [{ name: "MOONSHOT_API_KEY" }],
  zai: [{ name: "ZAI_API_KEY" }],
  minimax: [{ name: "MINIMAX_API_KEY" }],
  "kimi-coding": [{ name: "KIMI_API_KEY" }],
  huggingface: [{ name: "HF_TOKEN" }],
  // Not in the catalogue yet, but named in models.json files, and secrets all the same.
  azure: [{ name: "AZURE_OPENAI_API_KEY" }],
  "amazon-bedrock": [{ name: "AWS_BEARER_TOKEN_BEDROCK" }],
  "github-copilot": [{ name: "COPILOT_GITHUB_TOKEN" }],
  "vercel-ai-gateway": [{ name: "AI_GATEWAY_API_KEY" }],
  "minimax-cn": [{ name: "MINIMAX_CN_API_KEY" }],
  "zai-coding-cn": [{ name: "ZAI_CODING_CN_API_KEY" }],
  "ant-ling": [{ name: "ANT_LING_API_KEY" }],
  baseten: [{ name: "BASETEN_API_KEY" }],
  cohere: [{ name: "COHERE_API_KEY" }],
  meta: [{ name: "META_API_KEY" }],
  nvidia: [{ name: "NVIDIA_API_KEY" }],
  opencode: [{ name: "OPENCODE_API_KEY" }],
  perplexity: [{ name: "PERPLEXITY_API_KEY" }],
  qwen: [{ name: "DASHSCOPE_API_KEY" }, { name: "QWEN_API_KEY" }],
  replicate: [{ name: "REPLICATE_API_TOKEN" }],
  xiaomi: [{ name: "XIAOMI_API_KEY" }],
};

/** Environment variables by name; unset ones are absent or undefined. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** The variable that holds a provider's key now; an empty one counts as unset. */
export function environmentKey(provider: string, environment: Environment): EnvironmentKey | undefined {
  const keys = Object.hasOwn(ENVIRONMENT_KEYS, provider) ? ENVIRONMENT_KEYS[provider] : undefined;
  return keys?.find(({ name }) => environment[name]?.trim());
}

/** The providers whose key is in the environment, in the order of the table. */
export function providersWithKeys(environment: Environment): string[] {
  return Object.keys(ENVIRONMENT_KEYS).filter((provider) => environmentKey(provider, environment));
}
