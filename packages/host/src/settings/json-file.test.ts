import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { ConfigError } from "./config-error.ts";
import { readJsonFile } from "./json-file.ts";

let dir: string;
let path: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "tau-json-"));
  path = join(dir, "settings.json");
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

async function refusal(): Promise<string> {
  const error = await readJsonFile(path).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(ConfigError);
  expect(String(error)).toContain(path);
  return String(error);
}

const deep = (levels: number, [open, close]: [string, string]) => open.repeat(levels) + close.repeat(levels);

it.each([
  ["unclosed lists", "[".repeat(200_000)],
  ["unclosed objects", '{"a":'.repeat(200_000)],
  ["closed lists", `{"a": ${deep(200_000, ["[", "]"])}}`],
  ["lists with a comment", `// why\n{"a": ${deep(200_000, ["[", "]"])}}`],
  ["lists just too deep", `{"a": ${deep(100, ["[", "]"])}}`],
])("a file of %s is a mistake in the configuration", async (_name, text) => {
  writeFileSync(path, text);
  expect(await refusal()).toMatch(/nested more than 100 deep/);
});

it("values in values up to that depth are read", async () => {
  writeFileSync(path, `{"a": ${deep(99, ["[", "]"])}}`);
  expect(await readJsonFile(path)).toHaveProperty("a");
});

it("a pipe or a device is refused and not waited for", async ({ skip }) => {
  skip(process.platform === "win32", "Windows has no mkfifo");
  execFileSync("mkfifo", [path]);
  expect(await refusal()).toMatch(/not a regular file; make it one or remove it/);
  rmSync(path);
  symlinkSync("/dev/zero", path);
  expect(await refusal()).toMatch(/not a regular file/);
});

it("a file of many megabytes is refused unread", async () => {
  writeFileSync(path, "");
  truncateSync(path, 2 ** 40);
  expect(await refusal()).toMatch(/larger than 8 MB/);
});
