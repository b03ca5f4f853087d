import { existsSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import type { AgentToolResult } from "@tau/agent";
import { findExisting } from "../../platform/existing-path.ts";
import { FileProblem } from "../../platform/file-problem.ts";
import { compileGlob, compileLiteral, type PathMatcher, splitGlob } from "../../platform/glob.ts";
import { processGroups } from "../../platform/process-groups.ts";
import { RipgrepError, type RipgrepOutcome, runRipgrep, withRipgrep } from "../../platform/ripgrep.ts";
import { errorResult, type ToolEnvironment } from "../definition.ts";
import { ignoredTimeoutMs, looksAtIgnored } from "../search/ignored.ts";
import { resultLimit } from "../search/result-limit.ts";
import { baseOptions } from "../search/ripgrep-options.ts";
import { pathBelow, type SearchRoot, searchRoot, shownPath } from "../search/search-root.ts";
import { type FindDetails, findResult, type Listing } from "./find-result.ts";

const DEFAULT_LIMIT = 1000;
const TIMEOUT_MS = 30_000;

/** Paths that are gathered to be sorted; more than that is not an answer to read. */
const MAX_GATHERED = 50_000;

interface FindArgs {
  pattern: string;
  path?: string;
  limit?: number;
}

export interface FindCall {
  environment: ToolEnvironment;
  args: FindArgs;
  signal: AbortSignal;
}

/** Runs one call of find. A bad path is an error result with near names. */
export async function runFind(call: FindCall): Promise<AgentToolResult<FindDetails | undefined>> {
  if (call.args.pattern.trim() === "") return errorResult('The pattern is empty; "*" lists all files.');
  try {
    return await search(call);
  } catch (error) {
    if (error instanceof FileProblem || error instanceof RipgrepError) return errorResult(error.message);
    throw error;
  }
}

async function search(call: FindCall): Promise<AgentToolResult<FindDetails | undefined>> {
  const { args, environment } = call;
  const named = await searchRoot(args.path, environment);
  if (!named.isFolder) return errorResult(`${named.shown} is a file; path is the folder to search in.`);
  const limit = resultLimit(args.limit, DEFAULT_LIMIT);
  const exact = exactPath(named, args.pattern);
  if (exact !== undefined) {
    return findResult({
      environment,
      pattern: args.pattern,
      root: named,
      limit,
      main: { paths: [exact], whole: true },
    });
  }
  const { root, glob } = await narrowed(named, args.pattern, environment);
  const matches = compileGlob(glob);
  const places = { configured: environment.settings.ripgrepPath, env: environment.env };
  const list = (ignored: boolean, timeoutMs: number, accepts: (path: string) => boolean) =>
    withRipgrep(places, (program) => listPaths(call, { program, root, ignored, timeoutMs, matches, accepts }));

  const literal = compileLiteral(glob);
  const all = await list(false, TIMEOUT_MS, () => true);
  const main = preferLiteral(all, root, literal);
  if (call.signal.aborted) return errorResult("Aborted.");
  const findings = { environment, pattern: args.pattern, root, limit, main };
  const found = main.paths.length;
  if (!main.whole || !looksAtIgnored({ named: root.named, found })) return findResult(findings);
  // With literal names found, what only fits as a glob is not looked for among the ignored files either.
  if (main !== all) return findResult(findings);
  const known = new Set(all.paths);
  const timeoutMs = ignoredTimeoutMs({ named: root.named, found });
  const ignored = await list(true, timeoutMs, (path) => !known.has(path));
  if (call.signal.aborted) return errorResult("Aborted.");
  return findResult({ ...findings, ignored });
}

/** Names that are written like the pattern are what was meant, where there are any (report R233). */
function preferLiteral(listing: Listing, root: SearchRoot, literal: PathMatcher | undefined): Listing {
  if (!literal) return listing;
  const same = listing.paths.filter((path) => literal(pathBelow(root.path, path.replace(/\/$/, ""))));
  return same.length > 0 ? { ...listing, paths: same } : listing;
}

/** A pattern that is the path of something is that thing, ignored or not (R090). A bare name may be anywhere, though. */
function exactPath(root: SearchRoot, pattern: string): string | undefined {
  if (!(pattern.includes("/") || pattern === "." || pattern === "..") || pattern.includes("\0")) return undefined;
  const path = pattern.startsWith("/") ? pattern : join(root.path, pattern);
  if (!existsSync(path)) return undefined;
  const bare = path.replace(/(?<!\/)\/+$/, "");
  return statSync(path).isDirectory() ? `${bare}/` : bare;
}

/**
 * Goes down to the folder that the pattern names: it is then searched even when it is ignored. When there is no such
 * folder, the pattern may start anywhere.
 */
async function narrowed(
  root: SearchRoot,
  pattern: string,
  environment: ToolEnvironment,
): Promise<{ root: SearchRoot; glob: string }> {
  const { folder, rest } = splitGlob(pattern);
  if (!pattern.includes("/") || pattern.startsWith("!")) return { root, glob: pattern };
  if (rest === "" || folder === "") return { root, glob: rest === "" ? `**/${pattern}` : pattern };
  const path = folder.startsWith("/") || folder.startsWith("~") ? folder : join(root.path, folder);
  if (!folder.startsWith("~") && !existsSync(path)) return { root, glob: `**/${pattern}` };
  const found = await findExisting(path, environment);
  const shown = shownPath(found.path, environment.cwd);
  return { root: { path: found.path, isFolder: true, named: true, shown }, glob: `/${rest}` };
}

interface ListOptions {
  program: string;
  root: SearchRoot;
  ignored: boolean;
  timeoutMs: number;
  matches: PathMatcher;
  accepts(path: string): boolean;
}

/** Lists what fits: files, and the folders they are in. */
async function listPaths(
  { environment, signal }: FindCall,
  options: ListOptions,
): Promise<Listing & { outcome: RipgrepOutcome }> {
  const { program, root, ignored, timeoutMs, matches, accepts } = options;
  const paths: string[] = [];
  const seen = new Set<string>([root.path]);
  const take = (path: string, suffix: string) => {
    if (matches(pathBelow(root.path, path)) && accepts(path + suffix)) paths.push(path + suffix);
  };
  const takeFolders = (path: string) => {
    for (let folder = dirname(path); !seen.has(folder) && folder.length > root.path.length; folder = dirname(folder)) {
      seen.add(folder);
      take(folder, "/");
    }
  };
  const outcome = await runRipgrep({
    program,
    args: [...baseOptions(root, { ignored }), "--files", "--null", "--", root.path],
    cwd: environment.cwd,
    env: environment.env,
    timeoutMs,
    signal,
    groups: environment.processes ?? processGroups,
    separator: 0,
    onRecord: (record) => {
      const path = record.toString("utf8");
      take(path, "");
      takeFolders(path);
      return paths.length < MAX_GATHERED;
    },
  });
  return { paths, whole: outcome.end === "done", outcome };
}
