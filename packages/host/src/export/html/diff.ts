import { clip } from "../clip.ts";
import { escapeHtml } from "./escape.ts";
import { omissionHtml, type PageContext } from "./page-context.ts";

/** What the first character of a line of a diff says about it. */
const LINE_KINDS: Readonly<Record<string, string>> = { "+": "add", "-": "del", "@": "hunk", "\\": "hunk" };

/** A diff with its lines coloured; names of files above the first hunk are left out, they are in the call. */
export function diffHtml(page: PageContext, diff: string): string {
  const { head, omitted, tail } = clip(withoutFileNames(diff), page.maxResult);
  const rest = omitted === 0 ? "" : omissionHtml(omitted) + linesHtml(tail);
  return linesHtml(head) + rest;
}

function linesHtml(text: string): string {
  const lines = text.replace(/\n$/, "").split("\n");
  return `<pre class="diff">${runsOf(lines).map(runHtml).join("")}</pre>`;
}

interface Run {
  kind: string;
  lines: string[];
}

/** Lines of one kind that follow each other share an element: a long diff stays small. */
function runsOf(lines: readonly string[]): Run[] {
  const runs: Run[] = [];
  for (const line of lines) {
    const kind = LINE_KINDS[line[0] ?? ""] ?? "same";
    const last = runs.at(-1);
    if (last?.kind === kind) last.lines.push(line);
    else runs.push({ kind, lines: [line] });
  }
  return runs;
}

function runHtml({ kind, lines }: Run): string {
  return `<span class="${kind}">${escapeHtml(lines.join("\n"))}\n</span>`;
}

function withoutFileNames(diff: string): string {
  return diff.replace(/^(?:Index: [^\n]*\n)?(?:=+\n)?--- [^\n]*\n\+\+\+ [^\n]*\n/, "");
}
