// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the placeholders are what is tested
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Model, SnapshotData } from "@tau/llm";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { readAuthFile } from "./auth-file.ts";
import { discoverLocalServers } from "./local-servers.ts";
import { ModelRegistry } from "./model-registry.ts";
import { readModelsFiles } from "./models-file.ts";

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "tau-models-"));
});
afterEach(() => rmSync(dir, { recursive: true }));

const SNAPSHOT: SnapshotData = {
  providers: [
    ["anthropic", "Anthropic"],
    ["openrouter", "OpenRouter"],
  ],
  endpoints: [
    ["anthropic", "anthropic-messages", "https://anthropic.example"],
    ["openrouter", "openai-completions", "https://openrouter.example"],
  ],
  levels: [],
  compats: [],
  rows: [
    [0, "sonnet-4", "Sonnet 4", 1, 1000, 100, [1, 2, 3, 4], -1, -1],
    [0, "opus-4", "", 1, 1000, 100, [1, 2, 3, 4], -1, -1],
    [1, "anthropic/sonnet-4", "", 1, 1000, 100, [1, 2, 3, 4], -1, -1],
  ],
};

interface Given {
  models?: unknown;
  auth?: unknown;
  variables?: Record<string, string>;
  snapshotNotNeeded?: boolean;
}

async function registry({ models = {}, auth = {}, variables = {}, snapshotNotNeeded = false }: Given = {}) {
  writeFileSync(join(dir, "models.json"), JSON.stringify(models));
  writeFileSync(join(dir, "auth.json"), JSON.stringify(auth), { mode: 0o600 });
  return new ModelRegistry({
    models: await readModelsFiles([join(dir, "models.json")]),
    auth: await readAuthFile(join(dir, "auth.json")),
    variables,
    snapshot: () =>
      snapshotNotNeeded ? Promise.reject(new Error("the catalog was loaded")) : Promise.resolve(SNAPSHOT),
  });
}

async function mustFind(known: ModelRegistry, provider: string, id: string): Promise<Model> {
  const found = await known.find(provider, id);
  if (!found) throw new Error(`no model ${provider}/${id}`);
  return found;
}

const local = { baseUrl: "http://127.0.0.1:1/v1/", api: "openai-completions", apiKey: "x", models: [{ id: "m:7b" }] };

describe("models.json", () => {
  it("gives a model without loading the catalog", async () => {
    const known = await registry({ models: { providers: { mock: local } }, snapshotNotNeeded: true });
    expect(await known.find("mock", "m:7b")).toMatchObject({
      ...{ id: "m:7b", name: "m:7b", provider: "mock", api: "openai-completions", baseUrl: "http://127.0.0.1:1/v1" },
      ...{ reasoning: false, input: ["text"], contextWindow: 128_000, maxTokens: 16_384 },
    });
    const { model } = await known.resolve({ pattern: "mock/m:7b" });
    expect(await known.missingKey(model.provider)).toBe(undefined);
    expect(await known.credentials(model)).toEqual({ apiKey: "x" });
  });

  it.each([
    [{ providers: { x: { baseUrl: "localhost:1" } } }, "providers.x.baseUrl must be a URL"],
    [{ providers: { x: { models: [{}] } } }, "providers.x.models[0].id is missing"],
    [{ providers: { x: { models: {} } } }, "providers.x.models must be a list"],
    [{ providers: { x: { apiKey: 5 } } }, "providers.x.apiKey must be a text"],
    [{ providers: { x: { headers: { a: 1 } } } }, "providers.x.headers.a must be a text"],
    [{ providers: { x: { models: [{ id: "m", contextWindow: "8k" }] } } }, "models[0].contextWindow must be a number"],
    [{ providers: { x: { models: [{ id: "m", cost: { input: "1" } }] } } }, "models[0].cost.input must be a price"],
    [{ providers: { x: { modelOverrides: { m: { reasoning: "yes" } } } } }, "modelOverrides.m.reasoning must be true"],
    [{ providers: [] }, "providers must be an object"],
    [{ providers: { x: 1 } }, "providers.x must be an object; correct or remove it"],
    [{ providers: { "a/b": {} } }, 'providers has "a/b", which cannot be the name of a provider; give it one without'],
    [{ providers: { x: { baseUrl: "http://127.0.0.1:99999/v1" } } }, "providers.x.baseUrl must be a URL"],
    [{ providers: { x: { baseUrl: "file:///s", api: "openai-completions" } } }, "providers.x.baseUrl is a file; give"],
    [
      { providers: { x: { api: "scripted", models: [{ id: "m", api: "openai-responses", baseUrl: "file:///s" }] } } },
      "providers.x.baseUrl is a file",
    ],
    [
      { providers: { x: { headers: { "bad header": "v" } } } },
      'providers.x.headers has "bad header", which is not the name',
    ],
  ])("names file and field of a mistake: %j", async (models, text) => {
    const error: unknown = await registry({ models }).catch((e: unknown) => e);
    expect(String(error)).toContain(`${join(dir, "models.json")}: `);
    expect(String(error)).toContain(text);
  });

  it("says that the providers are missing, but takes a file without any", async () => {
    await expect(registry({ models: { provider: {} } })).rejects.toThrow(/models\.json: providers is missing; put/);
    await registry({ models: {} });
    await registry({ models: { $schema: "x" } });
  });

  it("names file and field when a new provider has no address or no API", async () => {
    const models = { providers: { x: { api: "a", models: ["m"] }, y: { baseUrl: "http://h", models: ["m"] } } };
    const known = await registry({ models });
    await expect(known.resolve({ pattern: "x/m" })).rejects.toThrow(
      /models\.json: providers\.x\.baseUrl is missing; add one/,
    );
    await expect(known.resolve({ pattern: "y/m" })).rejects.toThrow(
      /models\.json: providers\.y\.api is missing; add one/,
    );
  });

  it("sends a built-in provider to another address by baseUrl alone, and adds and changes models", async () => {
    const anthropic = {
      baseUrl: "http://127.0.0.1:9",
      models: ["new"],
      modelOverrides: { "opus-4": { contextWindow: 5, cost: { input: 9 } }, gone: {} },
    };
    const known = await registry({ models: { providers: { anthropic } } });
    expect(await known.find("anthropic", "sonnet-4")).toMatchObject({ baseUrl: "http://127.0.0.1:9" });
    expect(await known.find("anthropic", "opus-4")).toMatchObject({ contextWindow: 5, cost: { input: 9, output: 2 } });
    expect(await known.find("anthropic", "new")).toMatchObject({ api: "anthropic-messages" });
    expect((await known.missingKey("anthropic"))?.message).toContain("ANTHROPIC_API_KEY");
  });

  it("reads price tiers and sampling parameters, also as overrides", async () => {
    const tiers = [{ inputTokensAbove: 200_000, input: 6, output: 22.5, cacheRead: 0.6, cacheWrite: 7.5 }];
    const sampling = { samplingParams: { top_p: 0.9 }, samplingParamsByThinkingLevel: { high: { top_k: 20 } } };
    const anthropic = { modelOverrides: { "opus-4": { cost: { tiers }, ...sampling } } };
    const mock = { ...local, models: [{ id: "m", cost: { input: 3, tiers }, ...sampling }] };
    const known = await registry({ models: { providers: { anthropic, mock } } });
    const price = { input: 3, output: 0, cacheRead: 0, cacheWrite: 0, tiers };
    expect(await known.find("mock", "m")).toMatchObject({ cost: price, ...sampling });
    expect(await known.find("anthropic", "opus-4")).toMatchObject({ cost: { input: 1, tiers }, ...sampling });
  });

  it.each([
    [{ cost: { tiers: {} } }, /models\[0\]\.cost\.tiers must be a list of prices/],
    [{ cost: { tiers: [{ inputTokensAbove: 1, input: 1 }] } }, /cost\.tiers\[0\] needs all of input, output/],
    [
      { cost: { tiers: [{ input: 1, output: 1, cacheRead: 1, cacheWrite: 1 }] } },
      /cost\.tiers\[0\]\.inputTokensAbove is missing/,
    ],
    [{ samplingParams: [] }, /models\[0\]\.samplingParams must be an object/],
    [{ samplingParamsByThinkingLevel: { low: 1 } }, /samplingParamsByThinkingLevel\.low must be an object/],
  ])("names the place of a mistake in %j", async (model, text) => {
    const mock = { ...local, models: [{ id: "m", ...model }] };
    await expect(registry({ models: { providers: { mock } } })).rejects.toThrow(text);
  });

  it("warns once of each field that is not used, with the one that may be meant", async () => {
    const models = ["a", "b", "c"].map((id) => ({
      id,
      maxToken: 1,
      inputLimits: {},
      $comment: "x",
      compat: { any: 1 },
    }));
    const path = join(dir, "models.json");
    writeFileSync(
      path,
      JSON.stringify({ $schema: "s", providers: { mock: { ...local, models, baseURL: "http://h" } } }),
    );
    expect((await readModelsFiles([path])).warnings).toEqual([
      `${path}: "baseURL" in providers.mock is not used by tau; did you mean "baseUrl"?`,
      `${path}: "maxToken" in providers.mock.models[0] and at 2 more places is not used by tau; did you mean "maxTokens"?`,
      `${path}: "inputLimits" in providers.mock.models[0] and at 2 more places is not used by tau`,
    ]);
  });

  it.each([
    [{ baseURL: "http://127.0.0.1:1" }, 'providers.x.baseURL is not a field of models.json; write it "baseUrl"'],
    [{ base_url: "http://127.0.0.1:1" }, 'providers.x.base_url is not a field of models.json; write it "baseUrl"'],
    [{ baseUrl: "http://127.0.0.1:1", "api-key": "k" }, 'write it "apiKey"'],
    [{ baseUrl: "http://127.0.0.1:1", models: [{ id: "m", context_window: 1 }] }, 'write it "contextWindow"'],
  ])("R268 names the field that is meant by %j", async (provider, text) => {
    writeFileSync(join(dir, "models.json"), JSON.stringify({ providers: { x: provider } }));
    await expect(readModelsFiles([join(dir, "models.json")])).rejects.toThrow(text);
  });

  it("R145 takes a provider from the first file that has it", async () => {
    writeFileSync(join(dir, "project.json"), JSON.stringify({ providers: { mock: { ...local, apiKey: "project" } } }));
    writeFileSync(join(dir, "home.json"), JSON.stringify({ providers: { mock: local, other: local } }));
    const { providers, sources } = await readModelsFiles([join(dir, "project.json"), join(dir, "home.json")]);
    expect([providers.mock?.apiKey, sources.other]).toEqual(["project", join(dir, "home.json")]);
  });
});

describe("keys", () => {
  const variables = { KEY: "value", PATH: "/bin:/usr/bin" };

  it.each([
    ["literal", "literal"],
    ["$KEY", "value"],
    ["a-${KEY}-b", "a-value-b"],
    ["Bearer $KEY", "Bearer value"],
    ["$$KEY", "$KEY"],
    ["$!x", "!x"],
    ["!printf 'from command\\n'", "from command"],
    ["p$4x", "p$4x"],
  ])("reads %s as pi does, in keys and headers", async (text, expected) => {
    const provider = { ...local, apiKey: text, headers: { "x-a": text } };
    const known = await registry({ models: { providers: { m: provider } }, variables });
    const { apiKey, headers } = await known.credentials(await mustFind(known, "m", "m:7b"));
    expect([apiKey, headers]).toEqual([expected, { "x-a": expected }]);
  });

  it("runs a command at the time of the request only", async () => {
    const log = join(dir, "log");
    const provider = { ...local, apiKey: `!echo x >> ${log}; wc -l < ${log}` };
    const known = await registry({ models: { providers: { m: provider } }, variables });
    const model = await mustFind(known, "m", "m:7b");
    expect((await known.missingKey("m"))?.message).toBe(undefined);
    expect(() => readFileSync(log)).toThrow();
    expect((await known.credentials(model)).apiKey).toBe("1");
    expect((await known.credentials(model)).apiKey).toBe("2");
  });

  it("says why a command or a header gave nothing", async () => {
    const m = { ...local, apiKey: "!echo locked >&2; exit 3" };
    const n = { ...local, headers: { "x-team": "$TEAM" } };
    const known = await registry({ models: { providers: { m, n } }, variables });
    await expect(known.credentials(await mustFind(known, "m", "m:7b"))).rejects.toThrow(/models\.json.*locked/);
    await expect(known.credentials(await mustFind(known, "n", "m:7b"))).rejects.toThrow(/models\.json.*x-team.*TEAM/);
  });

  it("sends the key as bearer when asked, and needs none for a server of one's own", async () => {
    const { apiKey: _apiKey, ...keyless } = local;
    const known = await registry({ models: { providers: { m: { ...local, authHeader: true }, n: keyless } } });
    expect((await known.credentials(await mustFind(known, "m", "m:7b"))).headers).toEqual({
      authorization: "Bearer x",
    });
    expect((await known.missingKey("n"))?.message).toBe(undefined);
    expect(await known.credentials(await mustFind(known, "n", "m:7b"))).toEqual({});
  });

  it("R030 keeps a key that was given for one provider from all others", async () => {
    const known = await registry();
    known.useKey("anthropic", "secret");
    expect((await known.credentials(await mustFind(known, "anthropic", "opus-4"))).apiKey).toBe("secret");
    const other = await mustFind(known, "openrouter", "anthropic/sonnet-4");
    await expect(known.credentials(other)).rejects.toThrow("OPENROUTER_API_KEY");
  });

  it("names variable, flag and file when there is no key", async () => {
    const known = await registry({ models: { providers: { m: { ...local, apiKey: "$NOT_SET" } } } });
    expect((await known.missingKey("anthropic"))?.message).toMatch(/ANTHROPIC_API_KEY.*--api-key.*auth\.json/);
    expect((await known.missingKey("m"))?.message).toMatch(/models\.json.*NOT_SET/);
    expect((await known.available()).map(({ provider }) => provider)).toEqual(["scripted"]);
  });

  it("R142 R143 knows which variables and which texts are secret", async () => {
    const m = { ...local, apiKey: "written-key", models: [{ id: "m", headers: { "x-a": "$TEAM_TOKEN" } }] };
    const auth = { acme: { type: "oauth", access: "acc", refresh: "ref", expires: 1 }, b: { key: "$V" } };
    const known = await registry({ models: { providers: { m } }, auth });
    known.useKey("m", "given");
    expect(known.secretVariables()).toEqual(expect.arrayContaining(["TEAM_TOKEN", "ANTHROPIC_API_KEY"]));
    expect(known.literalKeys().sort()).toEqual(["acc", "given", "ref", "written-key"]);
  });

  it("R143 knows the secret headers, and what a command gave for a request", async () => {
    const headers = { "x-token": "team-token", "x-stage": "production", "x-b": "!echo 3fb0c9d2aa17e4ff" };
    const m = { ...local, apiKey: "!echo made-key", headers };
    const known = await registry({ models: { providers: { m } } });
    expect(known.literalKeys()).toEqual(["team-token"]);
    await known.credentials(await mustFind(known, "m", "m:7b"));
    expect(known.literalKeys()).toEqual(expect.arrayContaining(["team-token", "made-key", "3fb0c9d2aa17e4ff"]));
  });

  it("warns of an auth.json that others can read, and refuses an entry that is not a credential", async () => {
    writeFileSync(join(dir, "a.json"), '{"anthropic": {"type": "api_key", "key": "k"}}');
    chmodSync(join(dir, "a.json"), 0o644);
    expect((await readAuthFile(join(dir, "a.json"))).warnings[0]).toContain("chmod 600");
    await expect(registry({ auth: { anthropic: 5 } })).rejects.toThrow(/auth\.json: "anthropic" must be/);
  });
});

describe("resolve", () => {
  it.each([
    ["opus-4", undefined, "anthropic/opus-4"],
    ["OPUS", undefined, "anthropic/opus-4"],
    ["anthropic/sonnet-4", "openrouter", "openrouter/anthropic/sonnet-4"],
    ["anthropic/sonnet-4", undefined, "anthropic/sonnet-4"],
    ["openrouter/anthropic/sonnet-4", undefined, "openrouter/anthropic/sonnet-4"],
    ["sonnet-4", "openrouter", "openrouter/anthropic/sonnet-4"],
  ])("finds %s at %s", async (pattern, provider, expected) => {
    const { model } = await (await registry()).resolve({ pattern, provider });
    expect(`${model.provider}/${model.id}`).toBe(expected);
  });

  it("takes a level behind the name, and leaves a colon of the id alone", async () => {
    const known = await registry({ models: { providers: { mock: local } } });
    const { model, thinkingLevel } = await known.resolve({ pattern: "mock/m:7b:high" });
    expect([model.id, thinkingLevel]).toEqual(["m:7b", "high"]);
  });

  it("names what fits, or what is near, for a name that is not a model", async () => {
    const known = await registry({ models: { providers: { mock: local } } });
    await expect(known.resolve({ pattern: "sonnet" })).rejects.toThrow(/fits 2 models .*--model provider\/id/);
    await expect(known.resolve({ pattern: "anthropic/opsu-4" })).rejects.toThrow(
      /unknown model.*anthropic\/opus-4.*--list-models/,
    );
    await expect(known.resolve({ pattern: "mock/zzz" })).rejects.toThrow('unknown model "mock/zzz" (near: mock/m:7b)');
    await expect(known.resolve({ pattern: "x", provider: "anthropix" })).rejects.toThrow(/unknown provider.*anthropic/);
  });
});

describe("the model to begin with", () => {
  it("is that of the first provider with a key, the user's own before the catalog's, never the script", async () => {
    expect(await (await registry()).firstUsable()).toBe(undefined);
    const variables = { OPENROUTER_API_KEY: "k" };
    expect(await (await registry({ variables })).firstUsable()).toMatchObject({ provider: "openrouter" });
    const models = { providers: { mock: local } };
    expect(await (await registry({ models, variables })).firstUsable()).toMatchObject({ id: "m:7b" });
    await expect((await registry()).preferred("nope")).rejects.toThrow('unknown provider "nope"');
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
    const found = await discoverLocalServers([
      { id: "here", name: "Here", port },
      { id: "gone", name: "Gone", port: 1 },
    ]);
    expect(found).toEqual({
      here: {
        name: "Here",
        baseUrl: `http://127.0.0.1:${port}/v1`,
        api: "openai-completions",
        models: [
          { id: "qwen", contextWindow: 8000, maxTokens: 2000 },
          { id: "plain", contextWindow: 32_768, maxTokens: 8192 },
        ],
      },
    });
  });
});
