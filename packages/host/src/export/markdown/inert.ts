/**
 * Text of a session for a Markdown file: reads as it was said, but holds no HTML that a viewer would run, no image
 * that it would fetch, no link with a scheme that could run, and no heading that looks like one of the export (R182).
 * Code blocks are found as CommonMark finds them and written anew, so that no viewer can see other ends of them (R303).
 */
export function inertMarkdown(text: string): string {
  const out: string[] = [];
  let code: OpenCode | undefined;
  // Whether a code span may reach into this line from one above.
  let spanOpen = false;
  for (const line of text.replace(/\r\n?/g, "\n").split("\n")) {
    if (code) {
      if (!closes(line, code)) code.lines.push(unindented(line, code.indent));
      else {
        out.push(fenced(code.lines.join("\n"), code.language));
        code = undefined;
      }
      continue;
    }
    code = openedBy(line);
    if (code || line.trim() === "") spanOpen = false;
    if (code) continue;
    const inert = inertLine(line, spanOpen);
    spanOpen = inert.spanOpen;
    out.push(withoutHeading(inert.text, out.at(-1)));
  }
  if (code) out.push(fenced(code.lines.join("\n"), code.language));
  return out.join("\n");
}

/** Text in a fence that no line of it can close; `language` tells a viewer how to colour it. */
export function fenced(text: string, language = ""): string {
  let longest = 2;
  for (const [run] of text.matchAll(/`{3,}/g)) longest = Math.max(longest, run.length);
  const fence = "`".repeat(longest + 1);
  return `${fence}${language}\n${text.replace(/\n$/, "")}\n${fence}`;
}

/** A text as part of a line in which nothing of it is a mark. */
export function inertSpan(text: string): string {
  return text
    .replace(/\s+/g, " ")
    .trim()
    .replace(/[\\`*_[\]<>&#|~!]/g, (char) => `&#${char.charCodeAt(0)};`);
}

/** The line without the spaces that its block is indented by. */
function unindented(line: string, indent: number): string {
  let spaces = 0;
  while (spaces < indent && line[spaces] === " ") spaces++;
  return line.slice(spaces);
}

/** A code block whose end was not met yet. */
interface OpenCode {
  /** The run that opened it. */
  readonly fence: string;
  /** Spaces in front of the run; as many are taken off each line. */
  readonly indent: number;
  readonly language: string;
  readonly lines: string[];
}

// CommonMark 0.31, 4.5: up to three spaces, a run of at least three; no backtick behind a run of backticks.
const OPENING = /^( {0,3})(`{3,}(?=[^`]*$)|~{3,})[ \t]*([\w+#.-]{0,40})/;
const CLOSING = /^ {0,3}(`{3,}|~{3,})[ \t]*$/;

function openedBy(line: string): OpenCode | undefined {
  const [found, indent = "", fence = "", language = ""] = OPENING.exec(line) ?? [];
  return found === undefined ? undefined : { fence, indent: indent.length, language, lines: [] };
}

function closes(line: string, { fence }: OpenCode): boolean {
  const run = CLOSING.exec(line)?.[1] ?? "";
  return run.length >= fence.length && run[0] === fence[0];
}

const HEADING = /^( {0,3})(#{1,6})(?=[ \t]|$)/;
const UNDERLINE = /^ {0,3}(?:=+|-+)[ \t]*$/;

/** The export's own headings have one and two signs. */
function withoutHeading(line: string, above: string | undefined): string {
  const signs = HEADING.exec(line)?.[2];
  if (signs !== undefined) return line.replace(signs, "#".repeat(Math.min(6, signs.length + 2)));
  return above?.trim() && UNDERLINE.test(line) ? `\\${line.trim()}` : line;
}

function inertLine(line: string, spanOpen: boolean): { text: string; spanOpen: boolean } {
  const parts = spanOpen || line.includes("\\`") ? undefined : codeSpans(line);
  if (!parts) return { text: withoutMarkup(line), spanOpen: line.includes("`") || spanOpen };
  // A bar ends a table's cell also inside of code.
  const shown = parts.map((part, index) => (index % 2 === 1 && !part.includes("|") ? part : withoutMarkup(part)));
  return { text: shown.join(""), spanOpen: false };
}

/** A line as text, code, text, …; undefined when a run of backticks in it has no partner. */
function codeSpans(line: string): string[] | undefined {
  const parts: string[] = [];
  const runs = [...line.matchAll(/`+/g)];
  const partners = partnersOf(runs.map(([run]) => run.length));
  let text = 0;
  for (let at = 0; at < runs.length; at++) {
    const open = runs[at];
    at = partners[at] ?? runs.length;
    const close = runs[at];
    if (!open || !close) return undefined;
    const end = close.index + close[0].length;
    parts.push(line.slice(text, open.index), line.slice(open.index, end));
    text = end;
  }
  parts.push(line.slice(text));
  return parts;
}

/** For each number the place of the next equal one. */
function partnersOf(lengths: readonly number[]): (number | undefined)[] {
  const next = new Map<number, number>();
  const partners: (number | undefined)[] = lengths.map(() => undefined);
  for (let at = lengths.length - 1; at >= 0; at--) {
    const length = lengths[at] ?? 0;
    partners[at] = next.get(length);
    next.set(length, at);
  }
  return partners;
}

// Entities and not backslashes: a backslash in front of one of these in the text would undo it.
const OFF: readonly (readonly [RegExp, string])[] = [
  [/</g, "&lt;"],
  [/!(?=\[)/g, "&#33;"],
  [/\](?=\()(?!\((?:https?:\/\/|mailto:|[\w./#-]+\)))/gi, "&#93;"],
  [/\](?=:)(?!:[ \t]*(?:https?:\/\/|mailto:))/gi, "&#93;"],
];

function withoutMarkup(text: string): string {
  return OFF.reduce((shown, [pattern, entity]) => shown.replace(pattern, entity), text);
}
