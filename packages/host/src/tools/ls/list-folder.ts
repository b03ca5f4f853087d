import type { Dirent } from "node:fs";
import { opendir, readlink, stat } from "node:fs/promises";
import { join } from "node:path";
import type { AgentToolResult } from "@tau/agent";
import { findExisting } from "../../platform/existing-path.ts";
import { asFileProblem, FileProblem } from "../../platform/file-problem.ts";
import { printableName } from "../../platform/terminal-text.ts";
import { errorResult, type ToolEnvironment, textResult } from "../definition.ts";
import { resultLimit } from "../search/result-limit.ts";
import { shownPath } from "../search/search-root.ts";

const DEFAULT_LIMIT = 500;

/** A folder with more names is not read to its end: sorting needs them all in memory. */
const MAX_READ = 100_000;

export interface LsDetails {
  /** Absolute. */
  path: string;
  shown: number;
  /** Names in the folder; absent when there are more than were read. */
  total?: number;
}

/** Lists a folder; a file is listed as itself, with its size. A missing path is an error with near names. */
export async function listFolder(
  environment: ToolEnvironment,
  args: { path?: string; limit?: number },
): Promise<AgentToolResult<LsDetails | undefined>> {
  const wanted = args.path === undefined || args.path === "" ? "." : args.path;
  try {
    const { path, stats } = await findExisting(wanted, environment);
    if (!stats.isDirectory()) {
      return textResult(`${shownPath(path, environment.cwd)} (${stats.size} bytes; not a folder)`, {
        path,
        shown: 1,
        total: 1,
      });
    }
    return await listEntries(path, wanted, resultLimit(args.limit, DEFAULT_LIMIT));
  } catch (error) {
    if (error instanceof FileProblem) return errorResult(error.message);
    throw error;
  }
}

async function listEntries(path: string, wanted: string, limit: number): Promise<AgentToolResult<LsDetails>> {
  const { entries, whole } = await readEntries(path, wanted);
  entries.sort((a, b) => (a.name < b.name ? -1 : 1));
  const shown = entries.slice(0, limit);
  const lines = await Promise.all(shown.map((entry) => lineOf(path, entry)));
  const details: LsDetails = { path, shown: shown.length, ...(whole && { total: entries.length }) };
  if (entries.length === 0) return textResult("(empty folder)", details);
  if (shown.length < entries.length) {
    const total = whole ? `${entries.length}` : `more than ${MAX_READ}`;
    lines.push("", `[the first ${shown.length} of ${total} names; give a limit, or use find with a pattern]`);
  }
  return textResult(lines.join("\n"), details);
}

async function readEntries(path: string, wanted: string): Promise<{ entries: Dirent[]; whole: boolean }> {
  const entries: Dirent[] = [];
  try {
    // Closed by the loop, also when it is left early.
    for await (const entry of await opendir(path)) {
      if (entries.length === MAX_READ) return { entries, whole: false };
      entries.push(entry);
    }
  } catch (error) {
    throw asFileProblem(error, "list", wanted);
  }
  return { entries, whole: true };
}

async function lineOf(folder: string, entry: Dirent): Promise<string> {
  const name = printableName(entry.name);
  if (entry.isDirectory()) return `${name}/`;
  if (!entry.isSymbolicLink()) return name;
  const path = join(folder, entry.name);
  try {
    const target = printableName(await readlink(path));
    return `${name} -> ${target}${await endOfLink(path)}`;
  } catch {
    // Removed or changed since it was read.
    return name;
  }
}

async function endOfLink(path: string): Promise<string> {
  try {
    return (await stat(path)).isDirectory() ? "/" : "";
  } catch {
    return " (dangling)";
  }
}
