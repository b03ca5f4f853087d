import type { Replacement } from "./replacement.ts";

/** Lines are compared and quoted up to here. */
const MAX_LINE = 2000;

/**
 * What looks wrong where new text meets old (R051): a last line of the new text that stands once more after it, a first
 * line that already stands before it, or a line that was joined to the next one. The edit is done all the same, since
 * each of them can be meant. `oldText` is what the model gave.
 */
export function boundaryNotes(text: string, replacement: Replacement, oldText: string): string[] {
  const { text: newText } = replacement;
  const notes: string[] = [];
  const last = lastLine(newText);
  if (last !== "" && last === lineAfter(text, replacement) && last !== lastLine(oldText)) {
    notes.push(`newText ends with the line that follows it, which is now there twice: ${quote(last)}`);
  }
  const first = firstLine(newText);
  if (first !== "" && first === lineBefore(text, replacement) && first !== firstLine(oldText)) {
    notes.push(`newText begins with the line before it, which is now there twice: ${quote(first)}`);
  }
  if (joinsLines(text, replacement)) {
    notes.push("oldText ended with a newline and newText does not, so its last line was joined with the next one.");
  }
  return notes;
}

function lineAfter(text: string, { end, text: newText }: Replacement): string {
  const following = text.slice(end, end + MAX_LINE);
  const rest = newText.endsWith("\n") ? following : following.replace(/^\r?\n/, "");
  return (rest.split("\n")[0] ?? "").trim();
}

function lineBefore(text: string, { start }: Replacement): string {
  const before = text.slice(Math.max(0, start - MAX_LINE), start).replace(/\r?\n$/, "");
  return (before.split("\n").at(-1) ?? "").trim();
}

function joinsLines(text: string, { start, end, text: newText }: Replacement): boolean {
  if (newText === "" || newText.endsWith("\n") || end <= start || end >= text.length) return false;
  return text[end - 1] === "\n";
}

/** The first line that holds more than spaces. */
function firstLine(text: string): string {
  return /\S[^\n]*/.exec(text)?.[0].trim() ?? "";
}

/** The last line that holds more than spaces. */
function lastLine(text: string): string {
  return text.trimEnd().split("\n").at(-1)?.trim() ?? "";
}

function quote(line: string): string {
  return JSON.stringify(line.length > 80 ? `${line.slice(0, 80)}…` : line);
}
