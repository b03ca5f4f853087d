import type { ModelConfig, ProviderConfig } from "@tau/llm";
import { isObject } from "./json-file.ts";

/** A model server that people run on their own machine, at the port it has by default. */
export interface LocalServer {
  readonly id: string;
  readonly name: string;
  readonly port: number;
}

export const LOCAL_SERVERS: readonly LocalServer[] = [
  { id: "ollama", name: "Ollama", port: 11434 },
  { id: "lmstudio", name: "LM Studio", port: 1234 },
  { id: "llamacpp", name: "llama.cpp", port: 8080 },
  { id: "vllm", name: "vLLM", port: 8000 },
];

/** On loopback a server answers within milliseconds or is not there. */
const PROBE_MS = 400;
const MAX_ANSWER_BYTES = 4 << 20;
/** When a server does not say how much its model takes. Local servers often load less than the model could. */
const DEFAULT_WINDOW = 32_768;

/** Asks all known servers at once which models they have; those that do not answer in time are left out. By id. */
export async function discoverLocalServers(
  servers: readonly LocalServer[] = LOCAL_SERVERS,
): Promise<Record<string, ProviderConfig>> {
  const found = await Promise.all(servers.map(probe));
  return Object.fromEntries(found.filter((entry) => entry !== undefined));
}

async function probe({ id, name, port }: LocalServer): Promise<[string, ProviderConfig] | undefined> {
  const baseUrl = `http://127.0.0.1:${port}/v1`;
  const answer = await getJson(`${baseUrl}/models`);
  const listed = isObject(answer) && Array.isArray(answer.data) ? answer.data : [];
  const models = listed.flatMap(readModel);
  return models.length === 0 ? undefined : [id, { name, baseUrl, api: "openai-completions", models }];
}

function readModel(value: unknown): ModelConfig[] {
  if (!isObject(value) || typeof value.id !== "string" || /embed/i.test(value.id)) return [];
  const meta = isObject(value.meta) ? value.meta : {};
  const sizes = [
    value.max_model_len,
    value.loaded_context_length,
    value.max_context_length,
    value.context_length,
    meta.n_ctx,
  ];
  const contextWindow = sizes.find((size) => typeof size === "number" && size > 0) ?? DEFAULT_WINDOW;
  const window = Number(contextWindow);
  return [{ id: value.id, contextWindow: window, maxTokens: Math.min(16_384, Math.ceil(window / 4)) }];
}

/** A small GET; undefined for anything but a 200 with JSON in time. */
async function getJson(url: string): Promise<unknown> {
  const { get } = await import("node:http");
  return new Promise((resolve) => {
    const request = get(url, { timeout: PROBE_MS, signal: AbortSignal.timeout(PROBE_MS) }, (response) => {
      let body = "";
      response.setEncoding("utf8");
      response.on("data", (chunk: string) => {
        body += chunk;
        if (body.length > MAX_ANSWER_BYTES) response.destroy();
      });
      response.on("close", () => resolve(response.statusCode === 200 ? parseOrUndefined(body) : undefined));
    });
    request.on("error", () => resolve(undefined));
  });
}

function parseOrUndefined(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
