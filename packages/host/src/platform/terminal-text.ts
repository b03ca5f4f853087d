/**
 * Text from outside, made safe for terminals and for models (R135). The sequences are those of ECMA-48 and of
 * xterm's ctlseqs: CSI, OSC, DCS/SOS/PM/APC strings, two-character escapes, each with its 8-bit form.
 */

/** Any character that a terminal may act on, newline and tab aside. */
const CONTROL = /[\x00-\x08\x0b-\x1f\x7f-\x9f]/;
const CONTROLS = /[\x00-\x08\x0b-\x1f\x7f-\x9f]+/g;

/**
 * One alternative a kind of sequence. No alternative can run over the start of another one, so the whole is linear in
 * the text (regexp: `terminal-text.test.ts` measures it). A string without its terminator is taken to the end of its line only: one stray byte must not hide the
 * rest of an output.
 */
const SEQUENCES = new RegExp(
  [
    "(?:\\x1b\\[|\\x9b)[0-?]*[ -/]*[@-~]?",
    "(?:\\x1b\\]|\\x9d)[^\\x07\\x18\\x1a\\x1b\\n\\x90-\\x9f]*(?:\\x07|\\x1b\\\\|\\x9c)?",
    "(?:\\x1b[PX^_]|[\\x90\\x98\\x9e\\x9f])[^\\x18\\x1a\\x1b\\x90-\\x9f]*(?:\\x1b\\\\|\\x9c)",
    "(?:\\x1b[PX^_]|[\\x90\\x98\\x9e\\x9f])[^\\x18\\x1a\\x1b\\n\\x90-\\x9f]*",
    "\\x1b[ -/]*[0-~]?",
  ].join("|"),
  "g",
);

/** "Cursor to column 1": spinners use it where others use a carriage return. */
const TO_FIRST_COLUMN = /^(?:\x1b\[|\x9b)[01]?G$/;

export interface TerminalTextOptions {
  /**
   * What a carriage return inside a line means. `rewrite` (default): the line was drawn anew, the last drawing is
   * kept, as for progress bars. `drop`: it is a stray character of a file, and all the text stays.
   */
  carriageReturn?: "rewrite" | "drop";
}

/**
 * The text without anything a terminal would act on: no sequences, no bell, no NUL, overstrikes resolved, CRLF as LF.
 * Newlines and tabs stay. Linear in the length of the text; text without control characters comes back as it is.
 */
export function cleanTerminalText(text: string, { carriageReturn = "rewrite" }: TerminalTextOptions = {}): string {
  if (!CONTROL.test(text)) return text;
  let out = text.replace(SEQUENCES, (sequence) => (TO_FIRST_COLUMN.test(sequence) ? "\r" : ""));
  if (out.includes("\r")) out = carriageReturn === "rewrite" ? lastDrawings(out) : out.replaceAll("\r", "");
  if (out.includes("\b")) out = resolveBackspaces(out);
  return out.replace(CONTROLS, "");
}

/** A file name on one line: what a terminal would act on is written as an escape (`\n`, `\x1b`). */
export function printableName(name: string): string {
  if (!/[\x00-\x1f\x7f-\x9f]/.test(name)) return name;
  return name.replace(/[\x00-\x1f\x7f-\x9f]/g, (char) => ESCAPES[char] ?? `\\x${hex(char)}`);
}

const ESCAPES: Readonly<Record<string, string>> = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };

function hex(char: string): string {
  return char.charCodeAt(0).toString(16).padStart(2, "0");
}

/** Keeps the last drawing of each line that is not blank; the return of a CRLF draws nothing. */
function lastDrawings(text: string): string {
  return text
    .split("\n")
    .map((line) => (line.includes("\r") ? lastDrawing(line.split("\r")) : line))
    .join("\n");
}

function lastDrawing(drawings: readonly string[]): string {
  return drawings.findLast((drawing) => drawing.trim() !== "") ?? "";
}

/** A backspace takes back the character before it on the same line: `a\ba` (bold in man pages) is `a`. */
function resolveBackspaces(text: string): string {
  const kept: string[] = [];
  for (const char of text) {
    if (char !== "\b") kept.push(char);
    else if (kept.length > 0 && kept[kept.length - 1] !== "\n") kept.pop();
  }
  return kept.join("");
}
