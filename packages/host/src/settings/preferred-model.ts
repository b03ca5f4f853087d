import type { Model } from "@tau/llm";

/** Which models of a provider are the ones to work with when nobody chose; the newest of them is taken. */
const PREFERRED: Readonly<Record<string, RegExp>> = {
  anthropic: /^claude-sonnet-\d{1,2}(-\d{1,2})?$/,
  openai: /^gpt-\d+(\.\d+)?(-sol)?$/,
  google: /^gemini-pro-latest$/,
  openrouter: /^anthropic\/claude-sonnet-[\d.]+$/,
  groq: /^openai\/gpt-oss-120b$/,
  deepseek: /^deepseek-v[\d.]+-pro$/,
  xai: /^grok-[\d.]+$/,
  mistral: /^devstral-latest$/,
  moonshotai: /^kimi-k[\d.]+$/,
  zai: /^glm-[\d.]+$/,
  minimax: /^MiniMax-M[\d.]+$/,
  "kimi-coding": /^kimi-for-coding$/,
  huggingface: /^MiniMaxAI\/MiniMax-M[\d.]+$/,
};

/**
 * The model to start with out of those of one provider: the newest of the preferred ones, else the first. Undefined
 * only for an empty list.
 */
export function preferredModel(models: readonly Model[]): Model | undefined {
  const pattern = PREFERRED[models[0]?.provider ?? ""];
  const preferred = models.filter(({ id }) => pattern?.test(id));
  preferred.sort((a, b) => a.id.localeCompare(b.id, "en", { numeric: true }));
  return preferred.at(-1) ?? models[0];
}
