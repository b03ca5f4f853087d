import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ConfigError } from "./config-error.ts";
import { loadSettings, mergeSettings } from "./load-settings.ts";
import { DEFAULT_SETTINGS } from "./settings.ts";
import { SETTING_ROWS } from "./settings-table.ts";

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "tau-settings-"));
});
afterEach(() => rmSync(dir, { recursive: true }));

const file = (name: string, text: string) => {
  writeFileSync(join(dir, name), text);
  return join(dir, name);
};

describe("loadSettings", () => {
  it("gives the defaults without a file", async () => {
    const { settings, warnings } = await loadSettings({ homeFile: join(dir, "none.json") });
    expect(settings).toEqual(DEFAULT_SETTINGS);
    expect(warnings).toEqual([]);
    expect(Object.isFrozen(settings.compaction)).toBe(true);
  });

  it("lays project over home and flags over both, field by field", async () => {
    const homeFile = file(
      "home.json",
      '{"compaction": {"reserveTokens": 1, "keepRecentTokens": 2}, "defaultModel": "a"}',
    );
    const projectFile = file("project.json", '{"compaction": {"keepRecentTokens": 3}}');
    const { settings } = await loadSettings({ homeFile, projectFile, flags: { defaultModel: "b" } });
    expect(settings.compaction).toEqual({ enabled: true, reserveTokens: 1, keepRecentTokens: 3 });
    expect(settings.defaultModel).toBe("b");
  });

  it("takes comments, trailing commas and a byte order mark", async () => {
    const homeFile = file("s.json", '\uFEFF{\n // why\n "followUpMode": "all",\n}');
    expect((await loadSettings({ homeFile })).settings.followUpMode).toBe("all");
  });

  it("names file, line and column of a text that is not JSON", async () => {
    const homeFile = file("s.json", '{\n  "a": 1,\n  "b" 2\n}');
    const error = await loadSettings({ homeFile }).catch((e: unknown) => e);
    expect(error).toBeInstanceOf(ConfigError);
    expect(String(error)).toContain(`${homeFile}:3:7: not valid JSON`);
  });

  it.each(["[]", '"text"', "null", "7"])("refuses %s as the whole file", async (text) => {
    await expect(loadSettings({ homeFile: file("s.json", text) })).rejects.toThrow("expected a JSON object");
  });

  it("treats an empty file as none, and a folder as an error", async () => {
    expect((await loadSettings({ homeFile: file("s.json", " \n") })).settings).toEqual(DEFAULT_SETTINGS);
    await expect(loadSettings({ homeFile: dir })).rejects.toThrow("cannot read");
  });
});

describe("mergeSettings", () => {
  const merge = (values: Record<string, unknown>, project = false) =>
    mergeSettings([{ source: "settings.json", values, project }]);

  it("has a row for every setting, and accepts every default", () => {
    const leaves = (value: object, prefix: string): string[] =>
      Object.entries(value).flatMap(([key, item]) =>
        typeof item === "object" && item !== null && !Array.isArray(item)
          ? leaves(item, `${prefix}${key}.`)
          : [`${prefix}${key}`],
      );
    expect(SETTING_ROWS.map(({ key }) => key).sort()).toEqual(leaves(DEFAULT_SETTINGS, "").sort());
    expect(merge(DEFAULT_SETTINGS as unknown as Record<string, unknown>).warnings).toEqual([]);
  });

  it("names a value of a wrong type and uses the default", () => {
    const { settings, warnings } = merge({ retry: { maxRetries: "3" }, steeringMode: "some", compaction: 5 });
    expect(settings).toEqual(DEFAULT_SETTINGS);
    expect(warnings).toHaveLength(3);
    expect(warnings[0]).toContain('"compaction" must be an object, not 5');
    expect(warnings[1]).toContain('"steeringMode" must be one of one-at-a-time, all, not "some"');
    expect(warnings[2]).toContain('"retry.maxRetries"');
  });

  it.each([
    [{ permission: { mode: "bogus" } }, '"permission.mode" must be one of yolo, ask, plan, not "bogus"; correct or'],
    [{ permission: { mode: true } }, '"permission.mode" must be one of'],
    [{ permission: "ask" }, '"permission" must be an object, not "ask"; correct or remove it'],
    [{ limits: { maxTurns: "x" } }, '"limits.maxTurns" must be a whole number of at least 1, not "x"; correct or'],
    [{ limits: { maxCost: 0 } }, '"limits.maxCost" must be a number above 0, not 0'],
    [{ limits: { maxSeconds: -1 } }, '"limits.maxSeconds" must be'],
    [{ httpProxy: "notaurl" }, '"httpProxy" must be a URL such as http://127.0.0.1:3128, not "notaurl"; correct or'],
    [{ httpProxy: "" }, '"httpProxy" must be a URL'],
    [{ httpProxy: "socks5://127.0.0.1:1" }, '"httpProxy" must be a URL'],
    [{ httpProxy: "http://127.0.0.1:99999" }, '"httpProxy" must be a URL'],
    [{ limits: [] }, '"limits" must be an object, not []'],
  ])("refuses %j: a typing error must not take a protection away", (values, text) => {
    expect(() => merge(values)).toThrow(ConfigError);
    expect(() => merge(values)).toThrow(`settings.json: ${text}`);
  });

  it.each(["http://127.0.0.1:3128", "HTTPS://user:pw@proxy", "proxy:3128", "[::1]:8080"])(
    "takes the proxy %s",
    (url) => {
      expect(merge({ httpProxy: url }).settings.httpProxy).toBe(url);
    },
  );

  it("refuses a limit of a project that cannot be read, and ignores what a project must not decide", () => {
    expect(() => merge({ limits: { maxTurns: "x" } }, true)).toThrow(ConfigError);
    expect(merge({ permission: "ask" }, true).warnings).toHaveLength(1);
    expect(merge({ permission: { mode: "bogus" }, limits: null }, true).warnings).toHaveLength(1);
  });

  it("leaves unknown keys alone and knows pi's names", () => {
    const { settings, warnings } = merge({
      theme: "dark",
      httpIdleTimeoutMs: "disabled",
      retry: { maxAgentDelayMs: 9 },
    });
    expect(warnings).toEqual([]);
    expect(settings.timeouts.idleMs).toBe(0);
    expect(settings.retry.maxDelayMs).toBe(9);
  });

  it("R145 does not let a project decide on proxies, permissions and secrets", () => {
    const values = { httpProxy: "http://evil", permission: { mode: "yolo" }, keepEnv: ["*"], shellPath: "/tmp/sh" };
    const { settings, warnings } = merge(values, true);
    expect(settings).toEqual(DEFAULT_SETTINGS);
    expect(warnings).toHaveLength(4);
  });
});
