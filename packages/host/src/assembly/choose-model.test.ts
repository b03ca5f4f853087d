import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, it } from "vitest";
import { loadSettings } from "../settings/load-settings.ts";
import { discoverLocalServers } from "../settings/local-servers.ts";
import { ModelRegistry } from "../settings/model-registry.ts";
import { DEFAULT_SETTINGS, type Settings } from "../settings/settings.ts";
import { chooseModel, defaultModel } from "./choose-model.ts";

it("finds a server on loopback when nothing else is set up", async () => {
  const server = createServer((_, response) => response.end('{"data": [{"id": "small"}]}')).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  try {
    const { settings } = await loadSettings({ homeFile: "/nonexistent/settings.json" });
    const choice = await chooseModel({
      request: {},
      registry: new ModelRegistry({
        models: { providers: {}, sources: {}, warnings: [] },
        auth: { path: "", credentials: {}, secrets: [], warnings: [] },
        variables: {},
      }),
      settings,
      recorded: undefined,
      discover: () => discoverLocalServers([{ id: "ollama", name: "Ollama", port }]),
      warn: () => undefined,
    });
    expect(choice.model).toMatchObject({ provider: "ollama", id: "small", baseUrl: `http://127.0.0.1:${port}/v1` });
  } finally {
    server.close();
  }
});

it.each([
  ["its bare id", { name: "small:7b" }],
  ["its server as --provider", { provider: "ollama" }],
  ["server and id", { provider: "ollama", name: "small:7b" }],
  ["provider/id", { name: "ollama/small:7b" }],
])("R267 finds a model of a local server by %s, beside a provider that has a key", async (_title, request) => {
  const ollama = { baseUrl: "http://127.0.0.1:1/v1", api: "openai-completions", models: [{ id: "small:7b" }] };
  let asked = 0;
  const choose = (of: object, found: Record<string, typeof ollama>) =>
    chooseModel({
      request: of,
      registry: new ModelRegistry({
        models: { providers: {}, sources: {}, warnings: [] },
        auth: { path: "", credentials: {}, secrets: [], warnings: [] },
        variables: { OPENAI_API_KEY: "k" },
      }),
      settings: DEFAULT_SETTINGS,
      recorded: undefined,
      discover: async () => {
        asked++;
        return found;
      },
      warn: () => undefined,
    });
  expect((await choose(request, { ollama })).model).toMatchObject({ provider: "ollama", id: "small:7b" });
  await expect(choose(request, {})).rejects.toThrow(/unknown (model|provider)/);
  expect(asked).toBe(2);
  await expect(choose({ name: "openai/nosuch" }, { ollama })).rejects.toThrow("unknown model");
  expect(asked).toBe(2);
});

it("R266 a new session begins with a model of a medium price, the one that the settings name, or none", async () => {
  const registry = (variables: Record<string, string>) =>
    new ModelRegistry({
      models: { providers: {}, sources: {}, warnings: [] },
      auth: { path: "", credentials: {}, secrets: [], warnings: [] },
      variables,
    });
  const begin = (variables: Record<string, string>, settings = DEFAULT_SETTINGS) =>
    defaultModel({ registry: registry(variables), settings });
  for (const [provider, variable] of [
    ["anthropic", "ANTHROPIC_API_KEY"],
    ["openrouter", "OPENROUTER_API_KEY"],
  ]) {
    const known = registry({ [variable ?? ""]: "k" });
    const chosen = await begin({ [variable ?? ""]: "k" });
    expect(chosen?.provider).toBe(provider);
    const family = (await known.all()).filter(
      (each) => each.provider === provider && /claude-(opus|fable)/.test(each.id),
    );
    expect(Math.min(...family.map(({ cost }) => cost.output))).toBeGreaterThan(0);
    expect(chosen?.id).toMatch(/claude-sonnet/);
  }
  const named = { ...DEFAULT_SETTINGS, defaultProvider: "openai", defaultModel: "gpt-4.1" };
  expect(await begin({ OPENAI_API_KEY: "k" }, named)).toMatchObject({ provider: "openai", id: "gpt-4.1" });
  expect(await begin({})).toBeUndefined();
});

it.each<[Partial<Settings>, string]>([
  [{ defaultModel: "nope" }, 'unknown model "nope" of the setting defaultModel; see'],
  [{ defaultProvider: "nope", defaultModel: "m" }, 'unknown provider "nope" of the setting defaultProvider; see'],
  [{ defaultProvider: "nope" }, 'unknown provider "nope" of the setting defaultProvider; see'],
])("a name of %j that does not exist is said to be one of the settings", async (settings, words) => {
  const models = { providers: {}, sources: {}, warnings: [] };
  const auth = { path: "", credentials: {}, secrets: [], warnings: [] };
  const registry = new ModelRegistry({ models, auth, variables: {} });
  const question = { registry, recorded: undefined, warn: () => undefined };
  const chosen = chooseModel({ ...question, request: {}, settings: { ...DEFAULT_SETTINGS, ...settings } });
  await expect(chosen).rejects.toThrow(words);
  const asked = chooseModel({ ...question, request: { name: "nope" }, settings: { ...DEFAULT_SETTINGS, ...settings } });
  await expect(asked).rejects.toThrow('unknown model "nope"; see');
});
