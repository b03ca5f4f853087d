import type { OutputBuffer } from "../../platform/output-buffer.ts";
import { characterEnd, characterStart, decodeTerminalBytes } from "../../platform/terminal-bytes.ts";

/** What the model is shown at most; the end of an output tells more than its start. */
const MAX_HEAD = { bytes: 20 * 1024, lines: 800 };
const MAX_TAIL = { bytes: 30 * 1024, lines: 1200 };

/** Output as text for the model. */
export interface ShownOutput {
  text: string;
  /** Bytes of the output that the text leaves out. */
  omittedBytes: number;
}

/** Head and tail of an output as clean text, with a note between them on what is left out and where all of it is. */
export function shownOutput(output: OutputBuffer): ShownOutput {
  const { head, tail, gapBytes } = output.kept();
  if (gapBytes === 0) return shownWhole(output, decodeTerminalBytes(Buffer.concat([head, tail])));
  const [cleanHead, cleanTail] = [
    decodeTerminalBytes(head.subarray(0, characterEnd(head, head.length))),
    decodeTail(tail),
  ];
  const first = headOf(cleanHead);
  const last = tailOf(cleanTail);
  const cut = byteLength(cleanHead) - byteLength(first) + byteLength(cleanTail) - byteLength(last);
  return joined(output, { first, last, omittedBytes: gapBytes + cut });
}

function shownWhole(output: OutputBuffer, raw: string): ShownOutput {
  const text = trimmed(raw);
  const bytes = byteLength(text);
  if (bytes <= MAX_HEAD.bytes + MAX_TAIL.bytes && !hasMoreLines(text, MAX_HEAD.lines + MAX_TAIL.lines)) {
    return { text, omittedBytes: 0 };
  }
  output.saveToFile();
  const first = headOf(text);
  const last = tailOf(text.slice(first.length));
  return joined(output, { first, last, omittedBytes: bytes - byteLength(first) - byteLength(last) });
}

function joined(output: OutputBuffer, parts: { first: string; last: string; omittedBytes: number }): ShownOutput {
  const { first, last, omittedBytes } = parts;
  const where = output.filePath === undefined ? "" : `; the whole output: ${output.filePath}`;
  const problem = output.fileError === undefined ? "" : ` (${output.fileError})`;
  const note = `[... ${omittedBytes} bytes left out here${where}${problem} ...]`;
  const text = [first.trimEnd(), note, trimmed(last)].filter((part) => part !== "").join("\n\n");
  return { text, omittedBytes };
}

/** The tail was cut somewhere: it starts at its first whole line, when there is one near. */
function decodeTail(tail: Buffer): string {
  const newline = tail.subarray(0, 4096).indexOf("\n");
  return decodeTerminalBytes(tail.subarray(newline >= 0 ? newline + 1 : characterStart(tail, 0)));
}

function headOf(text: string): string {
  return cutStart(linesFromStart(text, MAX_HEAD.lines), MAX_HEAD.bytes);
}

function tailOf(text: string): string {
  return cutEnd(linesFromEnd(text, MAX_TAIL.lines), MAX_TAIL.bytes);
}

function hasMoreLines(text: string, count: number): boolean {
  return linesFromStart(text, count).length < text.length;
}

function linesFromStart(text: string, count: number): string {
  let end = 0;
  for (let line = 0; line < count; line++) {
    end = text.indexOf("\n", end) + 1;
    if (end === 0) return text;
  }
  return text.slice(0, end);
}

function linesFromEnd(text: string, count: number): string {
  let start = text.length;
  for (let line = 0; line < count; line++) {
    start = text.lastIndexOf("\n", start - 2) + 1;
    if (start === 0) return text;
  }
  return text.slice(start);
}

/** The first `max` bytes, back to the end of a line when that costs less than half of them. */
function cutStart(text: string, max: number): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= max) return text;
  const newline = bytes.lastIndexOf("\n", max - 1);
  return bytes.toString("utf8", 0, newline >= max / 2 ? newline + 1 : characterEnd(bytes, max));
}

function cutEnd(text: string, max: number): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= max) return text;
  const start = bytes.length - max;
  const newline = bytes.indexOf("\n", start);
  return bytes.toString("utf8", newline >= 0 && newline < start + max / 2 ? newline + 1 : characterStart(bytes, start));
}

/** Without empty lines at either end; indentation of the first line stays. */
function trimmed(text: string): string {
  return text.replace(/^(?:[ \t]*\n)+/, "").trimEnd();
}

function byteLength(text: string): number {
  return Buffer.byteLength(text);
}
