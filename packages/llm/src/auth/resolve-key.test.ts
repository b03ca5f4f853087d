// biome-ignore-all lint/suspicious/noTemplateCurlyInString: secrets are written with such placeholders
import { describe, expect, it } from "vitest";
import { environmentKey, providersWithKeys } from "./environment-keys.ts";
import { type KeySources, knownSecretNames, resolveHeaders, resolveKey } from "./resolve-key.ts";
import { resolveSecret, runEachCommandOnce } from "./secret-text.ts";

const environment = { OPENAI_API_KEY: "env-key", MINE: " mine ", EMPTY: " ", ANTHROPIC_AUTH_TOKEN: "tok" };
const runCommand = async (command: string) => {
  if (command === "fail") throw new Error("locked\nlong text");
  return command === "nothing" ? " \n" : `out of ${command}\n`;
};
const context = { environment, runCommand };
const resolve = (more: Partial<KeySources>) => resolveKey({ provider: "openai", environment, runCommand, ...more });

describe("the key of a provider", () => {
  it("comes from --api-key, then auth.json, then models.json, then the environment", async () => {
    const stored = { type: "api_key", key: "stored" };
    expect(await resolve({ option: "opt", stored, configured: "conf" })).toEqual({ key: "opt", source: "--api-key" });
    expect(await resolve({ stored, configured: "conf" })).toEqual({ key: "stored", source: "auth.json" });
    expect(await resolve({ configured: "conf" })).toEqual({ key: "conf", source: "models.json" });
    expect(await resolve({})).toEqual({ key: "env-key", source: "environment" });
  });

  it("takes an option as it is, and a source that cannot be used as none", async () => {
    expect(await resolve({ option: "$MINE" })).toMatchObject({ key: "$MINE" });
    expect(await resolve({ stored: { type: "oauth" }, configured: "$UNSET" })).toEqual({
      key: "env-key",
      source: "environment",
    });
    expect(await resolve({ option: " ", stored: { type: "api_key", key: "!fail" } })).toMatchObject({
      source: "environment",
    });
  });

  it("takes the variables of a stored credential before those of the process", async () => {
    const stored = { type: "api_key", key: "${MINE}", env: { MINE: "stored" } };
    expect(await resolve({ stored })).toMatchObject({ key: "stored" });
    const own = { type: "api_key", env: { OPENAI_API_KEY: "theirs" } };
    expect(await resolve({ stored: own })).toEqual({ key: "theirs", source: "environment" });
  });

  it("says which keys cannot be used, and the variable that would give one", async () => {
    const missing = await resolveKey({ provider: "groq", environment: {}, configured: "!fail", runCommand });
    expect(missing).toEqual({
      unusable: [{ source: "models.json", reason: "its command failed: locked" }],
      variable: "GROQ_API_KEY",
    });
    expect(await resolveKey({ provider: "anthropic", environment: {} })).toMatchObject({
      variable: "ANTHROPIC_API_KEY",
    });
    expect(await resolveKey({ provider: "own", environment: {} })).toEqual({ unusable: [] });
    expect(await resolveKey({ provider: "constructor", environment: {} })).toEqual({ unusable: [] });
  });

  it("goes out as a bearer token where it is one", async () => {
    const headers = { authorization: "Bearer tok" };
    expect(await resolveKey({ provider: "anthropic", environment })).toEqual({
      key: "tok",
      source: "environment",
      headers,
    });
    expect(await resolve({ option: "tok", authHeader: true })).toMatchObject({ headers });
  });
});

describe("a written secret", () => {
  it.each([
    ["literal", { value: "literal" }],
    ["with $dollar and !", { value: "with $dollar and !" }],
    ["$MINE", { value: "mine" }],
    ["${MINE}", { value: "mine" }],
    ["Bearer ${MINE}-${OPENAI_API_KEY}", { value: "Bearer mine-env-key" }],
    ["$$MINE", { value: "$MINE" }],
    ["!!x", { value: "!x" }],
    ["$UNSET", { problem: "the environment variable UNSET is not set" }],
    ["a ${UNSET}", { problem: "the environment variable UNSET is not set" }],
    ["$EMPTY", { problem: "the environment variable EMPTY is not set" }],
    ["! pass show x", { value: "out of pass show x" }],
    ["!nothing", { problem: "its command gave nothing" }],
    ["!fail", { problem: "its command failed: locked" }],
  ])("%s", async (text, expected) => {
    expect(await resolveSecret(text, context)).toEqual(expected);
  });

  it("runs no command where none may be run, and each one once", async () => {
    expect(await resolveSecret("!x", { environment })).toEqual({ problem: "its command cannot be run here" });
    let runs = 0;
    const run = runEachCommandOnce(async (command) => {
      runs++;
      if (command === "bad") throw new Error("no");
      return command;
    });
    expect(await Promise.all([run("a"), run("a")])).toEqual(["a", "a"]);
    expect(runs).toBe(1);
    await expect(run("bad")).rejects.toThrow("no");
    await expect(run("bad")).rejects.toThrow("no");
    expect(runs).toBe(3);
  });

  it("may stand in headers", async () => {
    expect(await resolveHeaders({ a: "$MINE", b: "$UNSET", c: "x" }, context)).toEqual({
      headers: { a: "mine", c: "x" },
      problems: [{ header: "b", reason: "the environment variable UNSET is not set" }],
    });
  });
});

describe("the environment", () => {
  it("says which providers have a key", () => {
    expect(providersWithKeys(environment)).toEqual(["anthropic", "openai"]);
    expect(environmentKey("openai", { OPENAI_API_KEY: " " })).toBeUndefined();
    expect(environmentKey("toString", environment)).toBeUndefined();
  });

  it("R142 names every variable that holds a key, also those of models.json", () => {
    const names = knownSecretNames({
      own: { apiKey: "$MY_KEY", headers: { x: "Bearer ${TEAM_TOKEN}" } },
      other: { apiKey: "!cmd $X" },
    });
    for (const name of ["ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "HF_TOKEN", "MY_KEY", "TEAM_TOKEN"]) {
      expect(names).toContain(name);
    }
    expect(names).not.toContain("X");
    expect(new Set(names).size).toBe(names.length);
  });
});
