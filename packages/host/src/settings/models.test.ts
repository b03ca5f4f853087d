// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the placeholders are what is tested
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Model } from "@tau/llm";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { readAuthFile } from "./auth-file.ts";
import { discoverLocalServers } from "./local-servers.ts";
import { type BuiltinProvider, ModelRegistry } from "./model-registry.ts";
import { readModelsFile } from "./models-file.ts";
import { resolveModel } from "./resolve-model.ts";

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "tau-models-"));
});
afterEach(() => rmSync(dir, { recursive: true }));

const model = (provider: string, id: string, more: Partial<Model> = {}): Model => ({
  id,
  name: id,
  api: "anthropic-messages",
  provider,
  baseUrl: `https://${provider}.example`,
  reasoning: true,
  input: ["text"],
  cost: { input: 1, output: 2, cacheRead: 3, cacheWrite: 4 },
  contextWindow: 1000,
  maxTokens: 100,
  ...more,
});

const BUILTIN: BuiltinProvider[] = [
  {
    id: "acme",
    name: "Acme",
    keyVariables: ["ACME_API_KEY", "ACME_TOKEN"],
    models: [model("acme", "sonnet-4", { name: "Sonnet 4" }), model("acme", "opus-4")],
  },
  { id: "proxy", name: "Proxy", keyVariables: ["PROXY_KEY"], models: [model("proxy", "acme/sonnet-4")] },
];

interface Given {
  models?: unknown;
  auth?: unknown;
  variables?: Record<string, string>;
  builtinNotNeeded?: boolean;
}

async function registry({ models = {}, auth = {}, variables = {}, builtinNotNeeded = false }: Given = {}) {
  writeFileSync(join(dir, "models.json"), JSON.stringify(models));
  writeFileSync(join(dir, "auth.json"), JSON.stringify(auth), { mode: 0o600 });
  return new ModelRegistry({
    providers: await readModelsFile(join(dir, "models.json")),
    authFile: await readAuthFile(join(dir, "auth.json")),
    variables,
    loadBuiltin: () =>
      builtinNotNeeded ? Promise.reject(new Error("the catalog was loaded")) : Promise.resolve(BUILTIN),
  });
}

const local = { baseUrl: "http://127.0.0.1:1/v1/", api: "openai-completions", apiKey: "x", models: [{ id: "m:7b" }] };

describe("models.json", () => {
  it("fills a model with the ecosystem's defaults, without loading the catalog", async () => {
    const known = await registry({ models: { providers: { mock: local } }, builtinNotNeeded: true });
    expect(await known.find("mock", "m:7b")).toEqual({
      id: "m:7b",
      name: "m:7b",
      api: "openai-completions",
      provider: "mock",
      baseUrl: "http://127.0.0.1:1/v1",
      reasoning: false,
      input: ["text"],
      cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
      contextWindow: 128_000,
      maxTokens: 16_384,
    });
  });

  it.each([
    [{ providers: { x: { api: "openai-completions", models: [{ id: "m" }] } } }, "providers.x.baseUrl is missing"],
    [{ providers: { x: { baseUrl: "http://h", models: [{ id: "m" }] } } }, "providers.x.api is missing"],
    [{ providers: { x: { baseUrl: "localhost:1" } } }, "providers.x.baseUrl must be a URL"],
    [{ providers: { x: { models: [{}] } } }, "providers.x.models[0].id is missing"],
    [{ providers: { x: { models: {} } } }, "providers.x.models must be a list"],
    [{ providers: { x: { apiKey: 5 } } }, "providers.x.apiKey must be a text"],
    [{ providers: { x: { models: [{ id: "m", contextWindow: "8k" }] } } }, "models[0].contextWindow must be a number"],
    [{ providers: [] }, "providers must be an object"],
    [{ providers: { x: 1 } }, "providers.x must be an object"],
  ])("names file and field of a mistake: %j", async (models, text) => {
    const error: unknown = await registry({ models })
      .then((known) => known.all())
      .catch((e: unknown) => e);
    expect(String(error)).toContain(join(dir, "models.json"));
    expect(String(error)).toContain(text);
  });

  it("sends a built-in provider to another address by baseUrl alone, and changes single models", async () => {
    const models = {
      providers: {
        acme: {
          baseUrl: "http://127.0.0.1:9",
          modelOverrides: { "opus-4": { contextWindow: 5, cost: { input: 9 } }, gone: {} },
        },
      },
    };
    const known = await registry({ models });
    expect(await known.find("acme", "sonnet-4")).toMatchObject({ baseUrl: "http://127.0.0.1:9", contextWindow: 1000 });
    expect(await known.find("acme", "opus-4")).toMatchObject({ contextWindow: 5, cost: { input: 9, output: 2 } });
  });

  it("adds a model to a built-in provider, and replaces one of the same id", async () => {
    const models = { providers: { acme: { models: [{ id: "new" }, { id: "opus-4", name: "mine" }] } } };
    const known = await registry({ models });
    expect(await known.find("acme", "new")).toMatchObject({
      api: "anthropic-messages",
      baseUrl: "https://acme.example",
    });
    expect((await known.all()).filter(({ provider }) => provider === "acme").map(({ name }) => name)).toEqual([
      "new",
      "mine",
      "Sonnet 4",
    ]);
  });
});

describe("keys", () => {
  it.each([
    ["literal", "literal"],
    ["$KEY", "value"],
    ["a-${KEY}-b", "a-value-b"],
    ["$$KEY", "$KEY"],
    ["$!x", "!x"],
    ["!printf 'from command\\n'", "from command"],
    ["p$4x", "p$4x"],
  ])("reads %s", async (apiKey, expected) => {
    const known = await registry({
      models: { providers: { m: { ...local, apiKey } } },
      variables: { KEY: "value", PATH: "/bin:/usr/bin" },
    });
    const found = await known.find("m", "m:7b");
    expect(found && (await known.credentials(found)).apiKey).toBe(expected);
  });

  it("runs a command at the time of the request only, each time anew", async () => {
    const log = join(dir, "log");
    const known = await registry({
      models: { providers: { m: { ...local, apiKey: `!echo x >> ${log}; wc -l < ${log}` } } },
      variables: { PATH: "/bin:/usr/bin" },
    });
    const found = await known.find("m", "m:7b");
    expect(() => readFileSync(log)).toThrow();
    if (!found) throw new Error("no model");
    expect((await known.credentials(found)).apiKey?.trim()).toBe("1");
    expect((await known.credentials(found)).apiKey?.trim()).toBe("2");
  });

  it("says which field's command failed, and how", async () => {
    const known = await registry({
      models: { providers: { m: { ...local, apiKey: "!echo locked >&2; exit 3" } } },
      variables: { PATH: "/bin" },
    });
    const found = await known.find("m", "m:7b");
    await expect(found && known.credentials(found)).rejects.toThrow(/models\.json: providers\.m\.apiKey.*locked/);
  });

  it("resolves headers like keys, and sends the key as bearer when asked", async () => {
    const provider = {
      ...local,
      authHeader: true,
      headers: { "x-team": "$TEAM" },
      models: [{ id: "m:7b", headers: { "x-model": "1" } }],
    };
    const known = await registry({ models: { providers: { m: provider } }, variables: { TEAM: "t" } });
    const found = await known.find("m", "m:7b");
    expect(found && (await known.credentials(found))).toEqual({
      apiKey: "x",
      headers: { "x-team": "t", "x-model": "1", authorization: "Bearer x" },
    });
    expect(known.secretVariables()).toEqual(["TEAM"]);
  });

  it("prefers the flag, then auth.json, then models.json, then the variable", async () => {
    const variables = { ACME_TOKEN: "env" };
    const opus = model("acme", "opus-4");
    expect((await (await registry({ variables })).credentials(opus)).apiKey).toBe("env");
    const models = { providers: { acme: { apiKey: "file" } } };
    expect((await (await registry({ variables, models })).credentials(opus)).apiKey).toBe("file");
    const auth = { acme: { type: "api_key", key: "saved" } };
    const known = await registry({ variables, models, auth });
    expect((await known.credentials(opus)).apiKey).toBe("saved");
    known.useKey("acme", "flag");
    expect((await known.credentials(opus)).apiKey).toBe("flag");
  });

  it("R030 keeps a key that was given for one provider from all others", async () => {
    const known = await registry();
    known.useKey("acme", "secret");
    expect(await known.credentials(model("proxy", "acme/sonnet-4"))).toEqual({});
    expect(await known.missingKey("proxy")).toContain("PROXY_KEY");
  });

  it("names variable, flag and file when there is no key", async () => {
    const known = await registry({ models: { providers: { m: { ...local, apiKey: "$NOT_SET" } } } });
    expect(await known.missingKey("acme")).toMatch(/ACME_API_KEY.*--api-key.*auth\.json/);
    expect(await known.missingKey("m")).toMatch(/models\.json .*NOT_SET/);
    expect((await known.available()).length).toBe(0);
  });

  it("warns of an auth.json that others can read", async () => {
    writeFileSync(join(dir, "a.json"), '{"acme": {"type": "api_key", "key": "k"}}');
    chmodSync(join(dir, "a.json"), 0o644);
    expect((await readAuthFile(join(dir, "a.json"))).warnings[0]).toContain("chmod 600");
    await expect(registry({ auth: { acme: 5 } })).rejects.toThrow(/auth\.json: "acme" must be/);
  });
});

describe("resolveModel", () => {
  it("takes provider/id without the catalog, also with a colon in the id and a level", async () => {
    const known = await registry({ models: { providers: { mock: local } }, builtinNotNeeded: true });
    expect((await resolveModel(known, { pattern: "mock/m:7b" })).model.id).toBe("m:7b");
    const plain = await registry({ models: { providers: { mock: local } } });
    const high = await resolveModel(plain, { pattern: "mock/m:7b:high" });
    expect([high.model.id, high.thinkingLevel]).toEqual(["m:7b", "high"]);
  });

  it.each([
    ["opus-4", undefined, "acme/opus-4"],
    ["OPUS", undefined, "acme/opus-4"],
    ["acme/sonnet-4", "proxy", "proxy/acme/sonnet-4"],
    ["acme/sonnet-4", "acme", "acme/sonnet-4"],
    ["proxy/acme/sonnet-4", undefined, "proxy/acme/sonnet-4"],
    ["sonnet 4", undefined, "acme/sonnet-4"],
  ])("finds %s at %s", async (pattern, provider, expected) => {
    const { model: found } = await resolveModel(await registry(), { pattern, provider });
    expect(`${found.provider}/${found.id}`).toBe(expected);
  });

  it("among several takes the one with a key, else asks to choose", async () => {
    const keyed = await registry({ variables: { PROXY_KEY: "k" } });
    expect((await resolveModel(keyed, { pattern: "sonnet-4" })).model.provider).toBe("acme");
    expect((await resolveModel(keyed, { pattern: "sonnet" })).model.provider).toBe("proxy");
    await expect(resolveModel(await registry(), { pattern: "sonnet" })).rejects.toThrow(
      /fits 2 models .*--model provider\/id/,
    );
  });

  it("names near models and providers for an unknown one", async () => {
    await expect(resolveModel(await registry(), { pattern: "acme/opsu-4" })).rejects.toThrow(
      /unknown model.*acme\/opus-4.*--list-models/,
    );
    await expect(resolveModel(await registry(), { pattern: "x", provider: "acmee" })).rejects.toThrow(
      /unknown provider.*acme/,
    );
  });
});

describe("discoverLocalServers", () => {
  let server: Server;
  afterEach(() => server.close());

  it("lists the models of a server that answers, with its window, and leaves the others out", async () => {
    server = createServer((request, response) => {
      expect(request.url).toBe("/v1/models");
      response.end(
        JSON.stringify({ data: [{ id: "qwen", max_model_len: 8000 }, { id: "nomic-embed" }, { id: "plain" }] }),
      );
    }).listen(0, "127.0.0.1");
    await new Promise((resolve) => server.once("listening", resolve));
    const { port } = server.address() as AddressInfo;
    const [found, ...others] = await discoverLocalServers([
      { id: "here", name: "Here", port },
      { id: "gone", name: "Gone", port: 1 },
    ]);
    expect(others).toEqual([]);
    expect(found).toMatchObject({
      id: "here",
      baseUrl: `http://127.0.0.1:${port}/v1`,
      models: [
        { id: "qwen", contextWindow: 8000, maxTokens: 2000 },
        { id: "plain", contextWindow: 32_768 },
      ],
    });
  });
});
