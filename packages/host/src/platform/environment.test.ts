import { describe, expect, it } from "vitest";
import { childVariables } from "./child-variables.ts";
import { readEnvironment } from "./environment.ts";

const facts = { userHome: "/home/u", cwd: "/real/ws", sameDirectory: () => false };

describe("readEnvironment", () => {
  it("has the documented defaults with an empty environment", () => {
    expect(readEnvironment({}, facts)).toMatchObject({
      tauDir: "/home/u/.tau",
      cwd: "/real/ws",
      logicalCwd: "/real/ws",
      color: undefined,
      offline: false,
      depth: 0,
      debug: false,
      network: {},
    });
  });

  it("reads TAU_DIR with a tilde, and relative to the working directory", () => {
    expect(readEnvironment({ TAU_DIR: "~/t/" }, facts).tauDir).toBe("/home/u/t");
    expect(readEnvironment({ TAU_DIR: "t" }, facts).tauDir).toBe("/real/ws/t");
  });

  it("R153 believes PWD only when it names the working directory", () => {
    expect(readEnvironment({ PWD: "/link/ws" }, facts).logicalCwd).toBe("/real/ws");
    expect(readEnvironment({ PWD: "/link/ws" }, { ...facts, sameDirectory: () => true }).logicalCwd).toBe("/link/ws");
    expect(readEnvironment({ PWD: "ws" }, { ...facts, sameDirectory: () => true }).logicalCwd).toBe("/real/ws");
  });

  it("takes the network settings from the environment (R154 is tested where they are used)", () => {
    expect(readEnvironment({ HTTPS_PROXY: "http://a" }, facts).network).toEqual({ httpsProxy: "http://a" });
  });

  it("knows when colours are not wanted", () => {
    expect(readEnvironment({ NO_COLOR: "1" }, facts).color).toBe(false);
    expect(readEnvironment({ NO_COLOR: "" }, facts).color).toBe(undefined);
    expect(readEnvironment({ FORCE_COLOR: "1" }, facts).color).toBe(true);
    expect(readEnvironment({ TERM: "dumb" }, facts).color).toBe(false);
  });
});

describe("childVariables", () => {
  const variables = {
    PATH: "/bin",
    ANTHROPIC_API_KEY: "a",
    MISTRAL_API_KEY: "m",
    HF_TOKEN: "h",
    CI_JOB_TOKEN: "c",
    MY_GATEWAY: "g",
    NORMAL: "n",
  };

  it("R142 keeps the agent's keys and the tokens of the CI from commands", () => {
    const child = childVariables({ variables, secretNames: ["MY_GATEWAY"], depth: 0 });
    expect(child.variables).toEqual({ PATH: "/bin", NORMAL: "n", TAU_DEPTH: "1", AI_AGENT: "tau" });
    expect(child.secrets.sort()).toEqual(["a", "c", "g", "h", "m"]);
  });

  it("R142 passes on what keepEnv names, also by pattern", () => {
    const { variables: child } = childVariables({ variables, keep: ["HF_TOKEN", "*_API_KEY"], depth: 2 });
    expect(child).toMatchObject({ HF_TOKEN: "h", ANTHROPIC_API_KEY: "a", MISTRAL_API_KEY: "m", TAU_DEPTH: "3" });
    expect(child).not.toHaveProperty("CI_JOB_TOKEN");
  });
});
