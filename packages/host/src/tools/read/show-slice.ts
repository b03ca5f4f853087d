import type { AgentToolResult } from "@tau/agent";
import { textResult } from "../definition.ts";
import { byteCount } from "../files/byte-count.ts";
import type { LineSlice } from "./lines.ts";

/** What the model should know about how the text came to be. */
export interface ReadNotes {
  /** The exact name on the disk, when another one was given. */
  readonly renamedTo?: string;
  readonly encoding?: string;
}

export interface ShownSlice {
  readonly path: string;
  readonly firstLine: number;
  /** Of the file, in bytes. */
  readonly size: number;
  readonly slice: LineSlice & { readonly found: true };
  readonly text: string;
  readonly notes: ReadNotes;
}

/** For programs; never sent to the model. */
export interface ReadDetails {
  readonly firstLine: number;
  readonly lines: number;
  readonly totalLines?: number;
  readonly truncated: boolean;
  readonly encoding?: string;
}

/** The text of some lines, with notes after it: how to continue, and what was changed to show it. */
export function showSlice(shown: ShownSlice): AgentToolResult<ReadDetails> {
  const { slice, firstLine, notes } = shown;
  const { text, lineEnds } = withoutCarriageReturns(shown.text);
  const readable = text.replace(/\0+/g, (run) => `[${run.length} zero bytes]`);
  const lines = [
    notes.renamedTo && `[The exact name is ${notes.renamedTo}]`,
    notes.encoding && `[Encoding: ${notes.encoding}]`,
    lineEnds && `[Line ends: ${lineEnds}]`,
    slice.cut ? cutNote(shown) : moreNote(shown),
  ].filter(Boolean);
  const tail = lines.length === 0 ? "" : `${readable.endsWith("\n") ? "\n" : "\n\n"}${lines.join("\n")}`;
  return textResult(readable + tail, {
    firstLine,
    lines: slice.lines,
    ...(slice.total !== undefined && { totalLines: slice.total }),
    truncated: slice.more,
    ...(notes.encoding !== undefined && { encoding: notes.encoding }),
  });
}

/** Line ends are shown as LF; `edit` and the note make up for what is lost. */
function withoutCarriageReturns(text: string): { text: string; lineEnds?: string } {
  const shown = text.replaceAll("\r\n", "\n");
  if (shown.length === text.length) return { text };
  const all = shown.split("\n").length - 1;
  return { text: shown, lineEnds: text.length - shown.length === all ? "CRLF" : "CRLF and LF mixed" };
}

function moreNote({ firstLine, slice, size }: ShownSlice): string | undefined {
  if (!slice.more) return undefined;
  const last = firstLine + slice.lines - 1;
  const whole = slice.total === undefined ? `; the file has ${byteCount(size)}` : ` of ${slice.total}`;
  return `[Showing lines ${firstLine}-${last}${whole}. Use offset=${last + 1} to continue.]`;
}

function cutNote({ path, firstLine, slice }: ShownSlice): string {
  const shown = byteCount(slice.bytes.length);
  const rest = `tail -c +${slice.start + slice.bytes.length + 1} '${path.replaceAll("'", "'\\''")}' | head -c 50000`;
  return (
    `[Line ${firstLine} is longer than ${shown}; only its head is shown. ` +
    `Use offset=${firstLine + 1} for the next line, or bash for the rest of this one: ${rest}]`
  );
}
