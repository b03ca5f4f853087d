import type { AgentToolResult } from "@tau/agent";
import { type ToolEnvironment, textResult } from "../definition.ts";
import { counted, listed } from "../search/ignored.ts";
import { type SearchRoot, shownPath } from "../search/search-root.ts";
import { contextLines, type GrepArgs } from "./grep-options.ts";
import type { FileHits, GrepPass } from "./hits.ts";

/** Longest text of a result. */
const MAX_BYTES = 50 * 1024;

export interface GrepDetails {
  /** Matching lines in the text. */
  matches: number;
  /** Files with such lines. */
  files: number;
  /** There are more than the text shows. */
  more: boolean;
  /** Files that ignore rules hide, where known. */
  ignoredFiles?: number;
  /** Matching lines found in these, also those that are not in the text. */
  ignoredMatches?: number;
}

export interface GrepFindings {
  environment: ToolEnvironment;
  args: GrepArgs;
  root: SearchRoot;
  limit: number;
  main: GrepPass;
  /** The second look, at what ignore rules hide; absent when there was none. */
  ignored?: GrepPass;
}

/** Hits as `path:line: text`, context as `path-line- text`, and notes on what is not shown. */
export function grepResult(findings: GrepFindings): AgentToolResult<GrepDetails> {
  const { root, main, ignored } = findings;
  const showsIgnored = ignored !== undefined && root.named;
  const text = new BoundedText(MAX_BYTES);
  const shown = addFiles(text, main.hits.files, findings);
  let shownIgnored = { matches: 0, files: 0 };
  if (showsIgnored && ignored.hits.matches > 0) {
    text.add(main.hits.matches > 0 ? "\nIn files that ignore rules skip:" : "In files that ignore rules skip:");
    shownIgnored = addFiles(text, ignored.hits.files, findings);
  }
  const notes = [limitNote(findings, text.full), ...problemNotes(main), ignoredNote(findings)].filter(
    (note) => note !== "",
  );
  const matches = shown.matches + shownIgnored.matches;
  const body = matches === 0 ? `No matches for ${describe(findings)}.` : text.toString();
  const details: GrepDetails = {
    matches,
    files: shown.files + shownIgnored.files,
    more: main.hits.more || text.full || (showsIgnored && ignored.hits.more) || main.outcome.end === "timeout",
    ...ignoredDetails(findings),
  };
  return textResult(
    [body, notes.join("\n")].filter((part) => part !== "").join(matches === 0 ? "\n" : "\n\n"),
    details,
  );
}

/** Text that takes whole lines as long as there is room. */
class BoundedText {
  readonly #lines: string[] = [];
  #room: number;
  full = false;

  constructor(maxBytes: number) {
    this.#room = maxBytes;
  }

  add(line: string): boolean {
    const bytes = Buffer.byteLength(line) + 1;
    if (bytes > this.#room) this.full = true;
    if (this.full) return false;
    this.#room -= bytes;
    this.#lines.push(line);
    return true;
  }

  toString(): string {
    return this.#lines.join("\n");
  }
}

function addFiles(text: BoundedText, files: readonly FileHits[], { environment, args }: GrepFindings) {
  const grouped = contextLines(args) > 0;
  const shown = { matches: 0, files: 0 };
  for (const file of files.filter(({ matches }) => matches > 0)) {
    if (grouped && shown.files > 0) text.add("--");
    shown.files++;
    shown.matches += addLines(text, file, { path: shownPath(file.path, environment.cwd), grouped });
    if (text.full) break;
  }
  return shown;
}

/** Adds the lines of one file, with `--` between groups; gives how many of them match. */
function addLines(text: BoundedText, file: FileHits, { path, grouped }: { path: string; grouped: boolean }): number {
  let matches = 0;
  let last = file.lines[0]?.number ?? 0;
  for (const { number, text: line, isMatch } of file.lines) {
    if (grouped && number > last + 1) text.add("--");
    last = number;
    const mark = isMatch ? ":" : "-";
    const place = number === 0 ? "" : `${number}${mark}`;
    if (!text.add(`${path}${mark}${place} ${line}`)) return matches;
    if (isMatch) matches++;
  }
  return matches;
}

function describe({ args, root, main }: GrepFindings): string {
  const pattern = args.literal ? JSON.stringify(args.pattern) : `/${args.pattern}/`;
  const glob = args.glob ? ` in files ${args.glob}` : "";
  const where = root.shown === "." ? "the working directory" : root.shown;
  const searched = main.hits.searchedFiles;
  return `${pattern}${glob} in ${where}${searched === undefined ? "" : ` (${counted(searched, "file")} searched)`}`;
}

function limitNote({ limit, main, root, ignored }: GrepFindings, full: boolean): string {
  if (full) return "[cut at 50 KB; there is more. Narrow the pattern, path or glob]";
  if (main.hits.more) return `[the first ${limit} matches; there are more. Narrow the pattern, or give a limit]`;
  return root.named && ignored?.hits.more ? "[there are more matches in ignored files]" : "";
}

function problemNotes({ outcome }: GrepPass): string[] {
  const notes: string[] = [];
  if (outcome.end === "timeout")
    notes.push("[the search took too long and was stopped; this is not all. Narrow path or glob]");
  if (outcome.end === "done" && outcome.code === 2) notes.push("[some files could not be read]");
  return notes;
}

/** What is known of the ignored files, for a search that does not show them. */
function ignoredNote({ environment, args, root, main, ignored }: GrepFindings): string {
  if (!ignored) return "";
  const done = ignored.outcome.end === "done";
  const { matches, files, more } = ignored.hits;
  if (matches > 0 && !root.named) {
    const names = listed(files.map(({ path }) => shownPath(path, environment.cwd)));
    const count = `${more || !done ? "at least " : ""}${counted(matches, "match")}`;
    return `[ignore rules skip ${count} in: ${names}. Give such a path to see them]`;
  }
  const late = ignored.outcome.end === "timeout";
  if (late) return root.named || main.hits.matches === 0 ? "[not all ignored files were searched]" : "";
  const skipped = skippedFiles({ main, ignored });
  if (matches > 0 || skipped === undefined || skipped === 0 || args.glob?.includes("/")) return "";
  return `[no matches in ${counted(skipped, "ignored file")} either]`;
}

function skippedFiles({ main, ignored }: { main: GrepPass; ignored: GrepPass }): number | undefined {
  const [kept, all] = [main.hits.searchedFiles, ignored.hits.searchedFiles];
  return kept === undefined || all === undefined ? undefined : Math.max(0, all - kept);
}

function ignoredDetails({ main, ignored }: GrepFindings): Partial<GrepDetails> {
  if (!ignored) return {};
  const ignoredFiles = skippedFiles({ main, ignored });
  return { ignoredMatches: ignored.hits.matches, ...(ignoredFiles !== undefined && { ignoredFiles }) };
}
