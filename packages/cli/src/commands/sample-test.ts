import { execFile } from "node:child_process";
import type { Environment } from "@tau/host/program";

/** The sample's tests take well under a second. */
const TIMEOUT_MS = 60_000;

export interface TestRun {
  readonly green: boolean;
  readonly summary: string;
}

/** Runs the tests of the sample project with this very Node and says how they ended. */
export function runSampleTest(folder: string, { variables }: Environment): Promise<TestRun> {
  // Inside another test run node --test would report to that one.
  const { NODE_TEST_CONTEXT: _context, ...env } = variables;
  return new Promise((resolve) => {
    execFile(process.execPath, ["--test"], { cwd: folder, env, timeout: TIMEOUT_MS }, (error, stdout) => {
      // regexp: the names are those of the two lines below.
      const count = (name: string) => new RegExp(`^(?:#|ℹ) ${name} (\\d+)`, "m").exec(stdout)?.[1] ?? "?";
      resolve({ green: error === null, summary: `${count("pass")} passed, ${count("fail")} failed` });
    });
  });
}
