import type { AgentToolResult } from "@tau/agent";
import { FileProblem } from "../../platform/file-problem.ts";
import { compileGlob, type PathMatcher } from "../../platform/glob.ts";
import { processGroups } from "../../platform/process-groups.ts";
import { RipgrepError, runRipgrep, withRipgrep } from "../../platform/ripgrep.ts";
import { errorResult, type ToolEnvironment } from "../definition.ts";
import { ignoredTimeoutMs, looksAtIgnored, MAX_BESIDE_OTHERS } from "../search/ignored.ts";
import { resultLimit } from "../search/result-limit.ts";
import { pathBelow, type SearchRoot, searchRoot } from "../search/search-root.ts";
import { contextLines, type GrepArgs, grepOptions } from "./grep-options.ts";
import { type GrepDetails, grepResult } from "./grep-result.ts";
import { type GrepPass, Hits } from "./hits.ts";
import { parseRgEvent } from "./rg-event.ts";

const DEFAULT_LIMIT = 100;
const TIMEOUT_MS = 30_000;

export interface GrepCall {
  environment: ToolEnvironment;
  args: GrepArgs;
  signal: AbortSignal;
}

/** Runs one call of grep. A bad pattern or path is an error result that says what to do. */
export async function runGrep(call: GrepCall): Promise<AgentToolResult<GrepDetails | undefined>> {
  const unusable = unusableArguments(call.args);
  if (unusable !== undefined) return errorResult(unusable);
  try {
    return await search(call);
  } catch (error) {
    if (error instanceof FileProblem || error instanceof RipgrepError) return errorResult(error.message);
    throw error;
  }
}

/** Systems take no argument of a program that is longer than 128 KB. */
const MAX_ARGUMENT_BYTES = 100 * 1024;

function unusableArguments({ pattern, glob = "" }: GrepArgs): string | undefined {
  if (pattern === "") return "The pattern is empty.";
  if (pattern.includes("\0")) return "The pattern has a NUL character in it; files with one are binary.";
  return tooLong("pattern", pattern) ?? tooLong("glob", glob);
}

function tooLong(name: string, text: string): string | undefined {
  const bytes = Buffer.byteLength(text);
  if (bytes <= MAX_ARGUMENT_BYTES) return undefined;
  const [has, most] = [bytes, MAX_ARGUMENT_BYTES].map((count) => `${Math.ceil(count / 1024)} KB`);
  return `The ${name} has ${has}, and at most ${most} can be searched for. Search for a part of it.`;
}

async function search(call: GrepCall): Promise<AgentToolResult<GrepDetails | undefined>> {
  const { args, environment } = call;
  const root = await searchRoot(args.path, environment);
  const places = { configured: environment.settings.ripgrepPath, env: environment.env };
  const limit = resultLimit(args.limit, DEFAULT_LIMIT);
  const accepts = pathFilter(root, args.glob);
  const pass = (ignored: boolean, options: { limit: number; timeoutMs: number; accepts: PathMatcher }) =>
    withRipgrep(places, (program) => runPass(call, { root, program, ignored, ...options }));

  const main = await pass(false, { limit, timeoutMs: TIMEOUT_MS, accepts });
  const problem = problemOf(main, args);
  if (problem !== undefined) return errorResult(problem);

  const found = main.hits.matches;
  const second = root.isFolder && !main.hits.more && looksAtIgnored({ named: root.named, found });
  if (!second || main.outcome.end !== "done") return grepResult({ environment, args, root, limit, main });
  const known = new Set(main.hits.files.map(({ path }) => path));
  const ignored = await pass(true, {
    limit: found === 0 || !root.named ? limit : Math.min(limit, MAX_BESIDE_OTHERS),
    timeoutMs: ignoredTimeoutMs({ named: root.named, found }),
    accepts: (path) => !known.has(path) && accepts(path),
  });
  if (ignored.outcome.end === "abort") return errorResult("Aborted.");
  return grepResult({ environment, args, root, limit, main, ignored });
}

function pathFilter(root: SearchRoot, glob: string | undefined): PathMatcher {
  if (!root.isFolder || glob === undefined || glob === "") return () => true;
  const matches = compileGlob(glob);
  return (path) => matches(pathBelow(root.path, path));
}

interface PassOptions {
  root: SearchRoot;
  program: string;
  ignored: boolean;
  limit: number;
  timeoutMs: number;
  accepts: PathMatcher;
}

async function runPass({ args, environment, signal }: GrepCall, options: PassOptions): Promise<GrepPass> {
  const { root, program, ignored, limit, timeoutMs, accepts } = options;
  const hits = new Hits({ matches: limit, context: contextLines(args), accepts });
  const outcome = await runRipgrep({
    program,
    args: grepOptions(root, args, { ignored, limit }),
    cwd: environment.cwd,
    env: environment.env,
    timeoutMs,
    signal,
    groups: environment.processes ?? processGroups,
    separator: 0x0a,
    onRecord: (record, cut) => {
      const event = parseRgEvent(record, cut);
      return event === undefined || hits.add(event);
    },
  });
  return { hits, outcome };
}

/** Why there is no result at all; a search that only could not read some files is none of these. */
function problemOf({ outcome, hits }: GrepPass, { pattern, literal }: GrepArgs): string | undefined {
  if (outcome.end === "abort") return "Aborted.";
  if (outcome.end !== "done" || hits.matches > 0 || outcome.stderr.trim() === "") return undefined;
  const said = outcome.stderr.trim();
  if (/size limit/.test(said)) return `The pattern is too large when compiled: make its repeats {…} smaller. (${said})`;
  const hint = literal ? "" : " To search for it as plain text, set literal: true.";
  return `ripgrep cannot search for ${JSON.stringify(pattern)}:\n${said}\n${hint.trim()}`.trim();
}
