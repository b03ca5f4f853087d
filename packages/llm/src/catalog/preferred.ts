/**
 * The model of each built-in provider to begin with when the user names none: one that does long work well at a medium
 * price of its provider, not the dearest.
 */
export const PREFERRED_MODELS: Readonly<Record<string, string>> = {
  anthropic: "claude-sonnet-5-5",
  openai: "gpt-6.2-sol",
  google: "gemini-4-argon",
  openrouter: "anthropic/claude-sonnet-5.5",
  groq: "openai/gpt-oss-120b",
  deepseek: "deepseek-v4-pro",
  xai: "grok-4.7",
  mistral: "devstral-medium-latest",
  together: "moonshotai/Kimi-K3",
  cerebras: "gpt-oss-120b",
  fireworks: "accounts/fireworks/models/kimi-k3",
  moonshotai: "kimi-k2.7-code",
  zai: "glm-5.3",
  minimax: "MiniMax-M3",
  "kimi-coding": "kimi-for-coding",
  meta: "muse-spark-1.3",
  huggingface: "moonshotai/Kimi-K2.7-Code",
  scripted: "demo",
};
