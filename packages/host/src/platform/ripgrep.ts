import { execFile, spawn } from "node:child_process";
import { chmodSync } from "node:fs";
import { BoundedRecords } from "./bounded-records.ts";
import { partPath } from "./installed-part.ts";
import type { ProcessGroups } from "./process-groups.ts";
import { sendSignal, spawnExpendable } from "./process-tree.ts";
import { findOnPath, isExecutable } from "./shell.ts";
import { reasonOf } from "./thrown.ts";

/** Longest record that is parsed; what is longer (one line of megabytes) is told of and not shown. */
const MAX_RECORD_BYTES = 8 * 1024 * 1024;

const MAX_STDERR_BYTES = 4096;

/** There is no ripgrep, or it could not be started; the message has the remedy. */
export class RipgrepError extends Error {
  override readonly name = "RipgrepError";
}

/** Where a search may find its program. */
export interface RipgrepPlaces {
  /** The setting `ripgrepPath`; nothing else is tried then. */
  readonly configured: string | undefined;
  readonly env: Readonly<Record<string, string>>;
}

/** Older ones miscount what they searched, and know fewer options. */
const OLDEST_MAJOR_VERSION = 14;

/** How long a program may take to give its version. */
const VERSION_MS = 5_000;

/** What is known of the programs that were met: asked once each. */
const fitness = new Map<string, Promise<boolean>>();

/** Programs that ended in a way that ripgrep does not end by itself. */
const broken = new Set<string>();

/**
 * Runs a search by the first program that can do it: the configured one, else rg on the PATH when it is new enough, else
 * the packaged one, else an older rg. One that is killed or is not ripgrep at all is left for the next one, with all that
 * it found so far, so `search` starts anew each time.
 *
 * @throws RipgrepError when none works, with the remedy
 */
export async function withRipgrep<Pass extends { readonly outcome: RipgrepOutcome }>(
  places: RipgrepPlaces,
  search: (program: string) => Promise<Pass>,
): Promise<Pass> {
  const failures: string[] = [];
  for await (const program of programs(places, failures)) {
    try {
      const pass = await search(program);
      if (!isBroken(pass.outcome)) return pass;
      failures.push(`${program} ${endOf(pass.outcome)}`);
    } catch (error) {
      if (!(error instanceof RipgrepError)) throw error;
      failures.push(error.message);
    }
    broken.add(program);
  }
  const remedy = places.configured === undefined ? "Install rg, or name it by" : "Correct or remove";
  throw new RipgrepError(`ripgrep cannot be run. ${remedy} the setting ripgrepPath. (${failures.join("; ")})`);
}

async function* programs({ configured, env }: RipgrepPlaces, failures: string[]): AsyncGenerator<string> {
  if (configured !== undefined) {
    if (isExecutable(configured)) yield configured;
    else failures.push(`${configured} (setting ripgrepPath) is not an executable file`);
    return;
  }
  const found = findOnPath("rg", env);
  const onPath = found !== undefined && !broken.has(found) ? found : undefined;
  const isFit = onPath !== undefined && (await fits(onPath, env));
  if (onPath !== undefined && isFit) yield onPath;
  const packaged = packagedRipgrep(failures);
  if (packaged !== undefined) yield packaged;
  if (onPath !== undefined && !isFit) yield onPath;
}

function fits(program: string, env: Readonly<Record<string, string>>): Promise<boolean> {
  const known = fitness.get(program) ?? askVersion(program, env);
  fitness.set(program, known);
  return known;
}

/** Whether it is ripgrep, new enough, and has the engine for look-around. */
function askVersion(program: string, env: Readonly<Record<string, string>>): Promise<boolean> {
  return new Promise((resolve) => {
    execFile(program, ["--version"], { env, timeout: VERSION_MS, killSignal: "SIGKILL" }, (error, stdout) => {
      const major = /^ripgrep (\d+)\./.exec(stdout)?.[1];
      resolve(!error && Number(major) >= OLDEST_MAJOR_VERSION && stdout.includes("+pcre2"));
    });
  });
}

/** ripgrep itself ends with 0, 1 or 2, and by a signal only when it is stopped from here. */
function isBroken({ end, code }: RipgrepOutcome): boolean {
  return end === "done" && (code === null || code > 2);
}

function endOf({ code, signal, stderr }: RipgrepOutcome): string {
  const how = code === null ? `was killed by ${signal ?? "a signal"}` : `ended with exit code ${code}`;
  const said = stderr.trim();
  return said === "" ? how : `${how}: ${said}`;
}

/** The package names one for each platform as what it depends on, and that one holds the program. */
function packagedPath(): string {
  const file = process.platform === "win32" ? "rg.exe" : "rg";
  return partPath(["@vscode/ripgrep", `@vscode/ripgrep-${process.platform}-${process.arch}/bin/${file}`]);
}

function packagedRipgrep(failures: string[]): string | undefined {
  try {
    const path = packagedPath();
    // Some installers lose the mode bits of files in packages.
    if (!isExecutable(path)) chmodSync(path, 0o755);
    return path;
  } catch (error) {
    failures.push(`the packaged one is not there: ${reasonOf(error)}`);
    return undefined;
  }
}

export interface RipgrepRun {
  program: string;
  args: readonly string[];
  cwd: string;
  env: Readonly<Record<string, string>>;
  /** ms. */
  timeoutMs: number;
  signal: AbortSignal;
  groups: ProcessGroups;
  /** The byte that ends a record of its output: LF for `--json`, NUL for `--null`. */
  separator: number;
  /** False stops the search: there is enough. `cut`: the record was longer than 8 MB and only its start is there. */
  onRecord(record: Buffer, cut: boolean): boolean;
}

export interface RipgrepOutcome {
  end: "done" | "enough" | "timeout" | "abort";
  /** ripgrep's exit code: 0 found, 1 nothing found, 2 an error; null when it was stopped. */
  code: number | null;
  /** Who killed it, if anybody did. */
  signal: NodeJS.Signals | null;
  /** The start of what it said on stderr. */
  stderr: string;
}

/** Runs ripgrep and hands on its records as they come. It has no stdin (R071), and ends with the session (R080). */
export function runRipgrep(run: RipgrepRun): Promise<RipgrepOutcome> {
  return new Promise((resolve, reject) => {
    const child = spawnExpendable(() =>
      spawn(run.program, [...run.args], {
        cwd: run.cwd,
        env: run.env,
        detached: process.platform !== "win32",
        windowsHide: true,
        stdio: ["ignore", "pipe", "pipe"],
      }),
    );
    const { pid } = child;
    let end: RipgrepOutcome["end"] = "done";
    let stderr = "";
    const stop = (reason: RipgrepOutcome["end"]) => {
      if (end !== "done") return;
      end = reason;
      child.stdout.destroy();
      if (pid !== undefined) sendSignal(pid, "SIGKILL");
    };
    const records = new BoundedRecords({ separator: run.separator, maxBytes: MAX_RECORD_BYTES }, (record, cut) => {
      if (end === "done" && !run.onRecord(record, cut)) stop("enough");
    });
    const onAbort = () => stop("abort");
    const timer = setTimeout(() => stop("timeout"), run.timeoutMs);
    const release = () => {
      clearTimeout(timer);
      run.signal.removeEventListener("abort", onAbort);
      if (pid !== undefined) run.groups.settle(pid, []);
    };
    run.signal.addEventListener("abort", onAbort, { once: true });
    if (run.signal.aborted) onAbort();
    if (pid !== undefined) run.groups.add({ pid, command: "rg", startedAt: Date.now() });
    child.stdout.on("data", (chunk: Buffer) => records.push(chunk));
    child.stderr.on("data", (chunk: Buffer) => {
      if (stderr.length < MAX_STDERR_BYTES) stderr += chunk.toString("utf8");
    });
    child.on("error", (error) => {
      release();
      reject(new RipgrepError(`ripgrep (${run.program}) could not be started: ${error.message}`));
    });
    child.on("close", (code, signal) => {
      if (end === "done") records.end();
      release();
      resolve({ end, code, signal, stderr: stderr.slice(0, MAX_STDERR_BYTES) });
    });
  });
}
