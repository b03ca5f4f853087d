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
   * What a carriage return inside a line means. `rewrite` (default): the line is drawn over from its start, as by a
   * terminal: what is longer than the later drawings stays. `drop`: it is a stray character of a file, and all the text stays.
   */
  carriageReturn?: "rewrite" | "drop";
}

/**
 * The text without anything a terminal would act on: no sequences, no bell, no NUL, overstrikes resolved, CRLF as LF.
 * Newlines and tabs stay. Linear in the length of the text; text without control characters comes back as it is.
 */
export function cleanTerminalText(text: string, { carriageReturn = "rewrite" }: TerminalTextOptions = {}): string {
  if (!CONTROL.test(text)) return text;
  const rewrites = carriageReturn === "rewrite";
  let out = (rewrites ? text.replace(ERASE_MARKS, "") : text).replace(SEQUENCES, (sequence) =>
    TO_FIRST_COLUMN.test(sequence) ? "\r" : rewrites ? eraseMark(sequence) : "",
  );
  if (out.includes("\r")) out = rewrites ? drawLines(out) : out.replaceAll("\r", "");
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

/** What stands for the erasing of a line, from the cursor on and whole; such characters of the text itself go first. */
const ERASE_REST = "\x0e";
const ERASE_LINE = "\x0f";
const ERASE_MARKS = /[\x0e\x0f]/g;

function eraseMark(sequence: string): string {
  const erases = /^(?:\x1b\[|\x9b)([02]?)K$/.exec(sequence);
  if (!erases) return "";
  return erases[1] === "2" ? ERASE_LINE : ERASE_REST;
}

/** Draws each line that has returns in it as a terminal does; the return of a CRLF draws nothing. */
function drawLines(text: string): string {
  return text
    .split("\n")
    .map((line) => (line.includes("\r") ? drawn(line) : line))
    .join("\n");
}

/** Each drawing goes over the one before from its start. A line that was cleared at last shows what it had before. */
function drawn(line: string): string {
  const end = line.replace(TRAILING_RETURNS, "");
  if (!end.includes("\r")) return end;
  const canvas: Canvas = { cells: [], cleared: "" };
  for (const drawing of end.split("\r")) {
    if (drawing.trim() === "" && drawing.length >= canvas.cells.length) clear(canvas);
    drawOver(canvas, drawing);
  }
  return canvas.cells.join("").trimEnd() || canvas.cleared;
}

const TRAILING_RETURNS = /(?<!\r)\r+$/;

interface Canvas {
  readonly cells: string[];
  /** What the line showed before it was cleared. */
  cleared: string;
}

function clear(canvas: Canvas): void {
  canvas.cleared = canvas.cells.join("").trimEnd() || canvas.cleared;
  canvas.cells.length = 0;
}

/** After a line is cleared whole, drawing continues at its start, where all programs put the cursor. */
function drawOver(canvas: Canvas, drawing: string): void {
  const { cells } = canvas;
  let column = 0;
  for (const character of drawing) {
    if (character === ERASE_LINE) column = 0;
    if (character === ERASE_LINE || (character === ERASE_REST && column === 0)) clear(canvas);
    else if (character === ERASE_REST) cells.length = Math.min(cells.length, column);
    else cells[column++] = character;
  }
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
