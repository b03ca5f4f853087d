import { describe, expect, it } from "vitest";
import { knownApis } from "../providers/table.ts";
import { createCatalog, type FindOptions } from "./catalog.ts";
import type { ProviderConfig } from "./config.ts";
import { PREFERRED_MODELS } from "./preferred.ts";
import { SNAPSHOT_JSON } from "./snapshot.generated.ts";
import { loadSnapshot, type SnapshotData } from "./snapshot.ts";

type Row = SnapshotData["rows"][number];
const row = (endpoint: number, id: string, more: Record<number, unknown> = {}): Row =>
  Object.assign([endpoint, id, "", 0, 1000, 100, [1, 2, 0, 0], -1, -1], more) as Row;

const DATA: SnapshotData = {
  providers: [
    ["alpha", "Alpha"],
    ["beta", "Beta"],
  ],
  endpoints: [
    ["alpha", "anthropic-messages", "https://alpha.test"],
    ["beta", "openai-completions", "https://beta.test/v1"],
  ],
  levels: [{ xhigh: "max" }],
  compats: [{ forceAdaptiveThinking: true }],
  rows: [
    row(0, "lion-4-5", { 2: "Lion 4.5", 3: 3, 7: 0, 8: 0 }),
    row(0, "lion-4-5-20250929"),
    row(0, "tiger-5"),
    row(1, "lion-4-5"),
    row(1, "maker/puma:free"),
    row(1, "maker/puma-large"),
  ],
};
const snapshot = async () => DATA;
const local: ProviderConfig = {
  ...{
    baseUrl: "http://127.0.0.1:11434/v1/",
    api: "openai-completions",
    headers: { "x-a": "1" },
    compat: { supportsDeveloperRole: false },
  },
  models: [
    { id: "qwen3:8b" },
    { id: "big", contextWindow: 4096, cost: { input: 1 }, compat: { supportsUsageInStreaming: false } },
  ],
};
const find = async (
  reference: string,
  options: FindOptions = {},
  userProviders: Record<string, ProviderConfig> = { local },
) => {
  const found = await createCatalog({ snapshot, userProviders }).find(reference, options);
  if ("problem" in found) return found.problem;
  return [`${found.model.provider}/${found.model.id}`, found.thinkingLevel, found.warning].filter(Boolean).join(" | ");
};

describe("finding a model", () => {
  it.each([
    ["alpha/lion-4-5", "alpha/lion-4-5"],
    ["alpha/lion-4-5:high", "alpha/lion-4-5 | high"],
    ["alpha/LION-4-5", "alpha/lion-4-5"],
    ["lion-4-5", "alpha/lion-4-5"],
    ["lion-4-5:off", "alpha/lion-4-5 | off"],
    ["beta/maker/puma:free", "beta/maker/puma:free"],
    ["beta/maker/puma:free:low", "beta/maker/puma:free | low"],
    ["maker/puma-large", "beta/maker/puma-large"],
    ["local/qwen3:8b", "local/qwen3:8b"],
    ["qwen3:8b:medium", "local/qwen3:8b | medium"],
    ["tiger", "alpha/tiger-5"],
    ["alpha/tiger:max", "alpha/tiger-5 | max"],
    ["scripted/demo", "scripted/demo"],
  ])("%s is %s", async (reference, expected) => {
    expect(await find(reference)).toBe(expected);
  });

  it("takes the provider that is named, or one that a key is known for", async () => {
    expect(await find("lion-4-5", { provider: "beta" })).toBe("beta/lion-4-5");
    expect(await find("beta/lion-4-5", { provider: "beta" })).toBe("beta/lion-4-5");
    expect(await find("lion-4-5", { usable: (provider) => provider === "beta" })).toBe("beta/lion-4-5");
  });

  it("takes one undated model for all its dates, and never guesses between two", async () => {
    expect(await find("alpha/lion")).toBe("alpha/lion-4-5");
    expect(await find("puma")).toContain('There is no model "puma"');
    expect(await find("lion")).toContain("Did you mean");
  });

  it("uses an unknown id of a known provider with defaults, and says so", async () => {
    expect(await find("beta/new-one:high")).toContain("beta/new-one | high | beta/new-one is not in the list");
    expect(await find("local/new")).toContain("is not in the list");
    expect(await find("gamma/new")).toBe('There is no model "gamma/new". `tau --list-models` shows all.');
    expect(await find("scripted/other")).toContain("There is no model");
  });

  it("says what a provider of models.json lacks", async () => {
    expect(await find("x/y", {}, { x: { api: "openai-completions", models: [{ id: "y" }] } })).toContain(
      '"x" in models.json has no baseUrl',
    );
    expect(await find("x/y", {}, { x: { baseUrl: "http://a", models: [{ id: "y" }] } })).toContain("has no api");
  });

  it("does not load the snapshot for what the user has written out", async () => {
    let loads = 0;
    const load = () => {
      loads++;
      return snapshot();
    };
    const catalog = createCatalog({ snapshot: load, userProviders: { local } });
    await catalog.find("local/qwen3:8b");
    await catalog.find("scripted/demo");
    expect(loads).toBe(0);
    await catalog.find("alpha/tiger-5");
    await catalog.list();
    expect(loads).toBe(1);
  });
});

describe("the model to begin with", () => {
  it("is the user's first, the preferred one, or the first there is", async () => {
    const catalog = createCatalog({ snapshot, userProviders: { local } });
    const preferred = async (provider: string) => (await catalog.preferred(provider))?.id;
    expect([
      await preferred("local"),
      await preferred("alpha"),
      await preferred("scripted"),
      await preferred("none"),
    ]).toEqual([...["qwen3:8b", "lion-4-5", "demo", undefined]]);
  });

  it("is in the snapshot", async () => {
    const catalog = createCatalog();
    for (const [provider, id] of Object.entries(PREFERRED_MODELS)) {
      expect(await catalog.preferred(provider)).toMatchObject({ provider, id });
    }
    const { providers } = await loadSnapshot();
    for (const [provider] of providers) expect(PREFERRED_MODELS).toHaveProperty([provider]);
  });
});

describe("layers", () => {
  const model = async (reference: string, userProviders: Record<string, ProviderConfig>) => {
    const found = await createCatalog({ snapshot, userProviders }).find(reference);
    if ("problem" in found) throw new Error(found.problem);
    return found.model;
  };

  it("fills in defaults and what the provider says", async () => {
    expect(await model("local/big", { local })).toEqual({
      ...{ id: "big", name: "big", api: "openai-completions", provider: "local", baseUrl: "http://127.0.0.1:11434/v1" },
      ...{ reasoning: false, input: ["text"], cost: { input: 1, output: 0, cacheRead: 0, cacheWrite: 0 } },
      ...{ contextWindow: 4096, maxTokens: 4096, headers: { "x-a": "1" } },
      compat: { supportsDeveloperRole: false, supportsUsageInStreaming: false },
    });
    expect(await model("local/qwen3:8b", { local })).toMatchObject({ contextWindow: 128_000, maxTokens: 16_384 });
  });

  it("changes a built-in provider", async () => {
    const alpha: ProviderConfig = {
      ...{ baseUrl: "https://proxy.test/", headers: { "x-team": "a" } },
      models: [
        { id: "own", reasoning: true },
        { id: "tiger-5", name: "Mine", contextWindow: 9 },
      ],
      modelOverrides: {
        "lion-4-5": { cost: { output: 9 }, compat: { supportsTemperature: false }, maxTokens: 7 },
        gone: {},
      },
    };
    expect(await model("alpha/lion-4-5", { alpha })).toMatchObject({
      ...{ name: "Lion 4.5", api: "anthropic-messages", baseUrl: "https://proxy.test", headers: { "x-team": "a" } },
      ...{ cost: { input: 1, output: 9 }, maxTokens: 7, reasoning: true, input: ["text", "image"] },
      ...{ thinkingLevelMap: { xhigh: "max" }, compat: { forceAdaptiveThinking: true, supportsTemperature: false } },
    });
    expect(await model("alpha/own", { alpha: { models: alpha.models ?? [] } })).toMatchObject({
      ...{ api: "anthropic-messages", baseUrl: "https://alpha.test", reasoning: true },
    });
    expect(await model("alpha/tiger-5", { alpha })).toMatchObject({ name: "Mine", contextWindow: 9 });
    const catalog = createCatalog({ snapshot, userProviders: { alpha, local } });
    expect(await catalog.providers()).toEqual(["alpha", "local", "beta", "scripted"]);
    expect((await catalog.list("alpha")).map(({ id }) => id)).toEqual([
      "lion-4-5",
      "lion-4-5-20250929",
      "tiger-5",
      "own",
    ]);
  });
});

describe("search", () => {
  const search = async (query: string) =>
    (await createCatalog({ snapshot, userProviders: { local } }).search(query)).map(
      ({ provider, id }) => `${provider}/${id}`,
    );

  it("finds by words, then by letters, best first", async () => {
    expect(await search("tiger")).toEqual(["alpha/tiger-5"]);
    expect(await search("lion 4.5")).toEqual(["alpha/lion-4-5"]);
    expect(await search("beta puma")).toEqual(["beta/maker/puma:free", "beta/maker/puma-large"]);
    expect(await search("tigr")).toEqual(["alpha/tiger-5"]);
    expect(await search("beta/lion-4-5")).toEqual(["beta/lion-4-5"]);
    expect(await search("zebra")).toEqual([]);
    expect(await search(" ")).toHaveLength(9);
  });
});

describe("the snapshot", () => {
  it("is small, and every model in it can be used", async () => {
    expect(SNAPSHOT_JSON.length).toBeLessThan(200_000);
    const catalog = createCatalog();
    const models = await catalog.list();
    expect(models.length).toBeGreaterThan(300);
    for (const model of models) {
      expect(knownApis()).toContain(model.api);
      if (model.api !== "scripted") expect(model.baseUrl).toMatch(/^https:\/\/[^/]+(\/.*[^/])?$/);
      expect(model.contextWindow).toBeGreaterThan(0);
      expect(model.maxTokens).toBeLessThanOrEqual(model.contextWindow);
      for (const price of Object.values(model.cost)) expect(price).toBeGreaterThanOrEqual(0);
    }
    const data = await loadSnapshot();
    const references = models.map(({ provider, id }) => `${provider}/${id}`);
    expect(new Set(references).size).toBe(data.rows.length + 1);
    for (const reference of references)
      expect(await catalog.find(reference)).toMatchObject({ model: { id: expect.any(String) } });
  });

  it("OpenAI's, xAI's and Meta's models are asked by the Responses API, those among them that know no other", async () => {
    const catalog = createCatalog();
    for (const provider of ["openai", "xai", "meta"]) {
      const models = await catalog.list(provider);
      expect(models.length).toBeGreaterThan(2);
      expect(new Set(models.map(({ api }) => api))).toEqual(new Set(["openai-responses"]));
    }
    const ids = (await catalog.list("openai")).map(({ id }) => id);
    expect(ids).toEqual(expect.arrayContaining(["gpt-5.3-codex", "gpt-5.2-pro", "o1-pro", "gpt-4.1"]));
    expect(await catalog.find("openai/gpt-99")).toMatchObject({ model: { api: "openai-responses" } });
  });
});

describe("names in another case", () => {
  const mk: ProviderConfig = {
    baseUrl: "http://127.0.0.1:1/v1",
    api: "openai-completions",
    models: [{ id: "alpha-pro" }, { id: "Twin" }, { id: "twin" }],
  };
  const catalog = createCatalog({ snapshot, userProviders: { mk } });
  const found = async (reference: string, options?: FindOptions) => {
    const result = await catalog.find(reference, options);
    return "model" in result ? `${result.model.provider}/${result.model.id} ${result.thinkingLevel ?? ""}`.trim() : "";
  };

  it.each([
    ["MK/Alpha-Pro", "mk/alpha-pro"],
    ["mk/ALPHA-PRO", "mk/alpha-pro"],
    ["Mk/alpha-pro:high", "mk/alpha-pro high"],
    ["Alpha-Pro", "mk/alpha-pro"],
    ["ALPHA/Tiger-5", "alpha/tiger-5"],
    ["Beta/Maker/Puma:Free", "beta/maker/puma:free"],
    ["mk/Twin", "mk/Twin"],
    ["mk/twin", "mk/twin"],
    ["mk/alpha-pro", "mk/alpha-pro"],
  ])("R324 %s is %s", async (reference, expected) => {
    expect(await found(reference)).toBe(expected);
  });

  it("R324 a provider that is given apart is found too, and a name that two models have is none", async () => {
    expect(await found("Alpha-Pro", { provider: "MK" })).toBe("mk/alpha-pro");
    expect(await found("mk/Alpha-Pro", { provider: "MK" })).toBe("mk/alpha-pro");
    expect(await found("TWIN")).toBe("");
  });

  it.each(["constructor", "__proto__", "toString", "hasOwnProperty"])(
    "R306 %s is the name of no provider and of no model",
    async (name) => {
      for (const reference of [name, `${name}/x`, `${name}/${name}`]) {
        const result = await catalog.find(reference);
        expect("problem" in result ? result.problem : "").toMatch(/There is no model/);
      }
      expect(await catalog.preferred(name)).toBeUndefined();
      expect(await catalog.list(name)).toEqual([]);
    },
  );
});
