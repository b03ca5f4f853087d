import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify, stripVTControlCharacters } from "node:util";
import { expect, onTestFinished, test } from "vitest";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));

/** What vitest prints with the reporter, for these files. */
async function run(files) {
  const root = mkdtempSync(join(tmpdir(), "tau-reporter-"));
  onTestFinished(() => rmSync(root, { recursive: true }));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(root, name), text);
  const vitest = here("../node_modules/vitest/vitest.mjs");
  const args = ["run", "--globals", "--root", root, "--reporter", here("summary-reporter.mjs")];
  // One pipe for both outputs, as a person sees them.
  const shell = ["-c", 'exec "$0" "$@" 2>&1', process.execPath, vitest, ...args];
  const ended = await promisify(execFile)("sh", shell, { cwd: root }).catch((error) => error);
  return stripVTControlCharacters(ended.stdout);
}

test("R277 a run shows one line a file, failures with their place, the skipped with their reason", async () => {
  const output = await run({
    "good.test.js": 'test("passes", () => {}); test("waits", ({ skip }) => skip(true, "needs root"));',
    "bad.test.js": 'test("compares", () => { expect([1]).toEqual([2]); });',
    "broken.test.js": 'throw new Error("does not load");',
  });
  expect(output).toMatch(/^ +\d\/3 ok good\.test\.js \(1 passed, 1 skipped\) [\d.]+ s$/m);
  expect(output).toMatch(/^ +\d\/3 FAIL bad\.test\.js \(0 passed, 1 failed\) [\d.]+ s$/m);
  // At once: the failure stands in front of the line of its file.
  expect(output).toMatch(/FAIL bad\.test\.js > compares\n[\s\S]*bad\.test\.js:1:\d+[\s\S]*\/3 FAIL bad\.test\.js/);
  expect(output).toMatch(/FAIL broken\.test\.js\n[\s\S]*does not load/);
  expect(output).toMatch(/\nSkipped:\n {2}good\.test\.js > waits: needs root\n/);
  expect(output).toMatch(/\n1 passed, 2 failed, 1 skipped\n$/);
});

test("R277 a test that was skipped without a reason is asked for one", async () => {
  expect(await run({ "a.test.js": 'test.skip("later", () => {});' })).toContain("a.test.js > later: no reason given");
});
