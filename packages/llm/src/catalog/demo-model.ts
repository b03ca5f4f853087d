import type { Model } from "../protocol/model.ts";

/** The built-in script that plays a model: for a first look without a key, and for nothing else. */
export const DEMO_MODEL: Model = {
  id: "demo",
  name: "Demo (a script, not a model)",
  api: "scripted",
  provider: "scripted",
  baseUrl: "",
  reasoning: false,
  input: ["text"],
  cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
  contextWindow: 200_000,
  maxTokens: 32_000,
};
