/** What ripgrep's `--json` printer writes, as far as it is used. Source: the docs of the grep-printer crate, "JSON". */
export type RgEvent =
  | { type: "line"; path: string; isMatch: boolean; number: number; bytes: Buffer; hits: readonly ByteRange[] }
  | { type: "long"; path: string; isMatch: boolean }
  | { type: "summary"; searchedFiles: number };

/** Bytes `start` (in) to `end` (out). */
export interface ByteRange {
  start: number;
  end: number;
}

/** Text as ripgrep gives it: base64 when it is not UTF-8. */
type RgText = { text: string } | { bytes: string };

interface RgLine {
  path: RgText;
  lines: RgText;
  line_number: number | null;
  submatches: ByteRange[];
}

/** One record of the output; undefined for those that say nothing of use. `cut`: only the start of it is there. */
export function parseRgEvent(record: Buffer, cut: boolean): RgEvent | undefined {
  try {
    return cut ? parseCut(record.toString("utf8", 0, 64 * 1024)) : parseWhole(record.toString("utf8"));
  } catch {
    // Not what ripgrep prints: a wrapper of that name on the PATH may print what it likes.
    return undefined;
  }
}

function parseWhole(record: string): RgEvent | undefined {
  const { type, data } = JSON.parse(record) as { type: string; data: unknown };
  if (type === "match" || type === "context") return lineEvent(data as RgLine, type === "match");
  if (type !== "summary") return undefined;
  return { type, searchedFiles: (data as { stats: { searches: number } }).stats.searches };
}

function lineEvent(line: RgLine, isMatch: boolean): RgEvent {
  return {
    type: "line",
    path: bytesOf(line.path).toString("utf8"),
    isMatch,
    number: line.line_number ?? 0,
    bytes: bytesOf(line.lines),
    hits: line.submatches.map(({ start, end }) => ({ start, end })),
  };
}

function bytesOf(text: RgText): Buffer {
  return "text" in text ? Buffer.from(text.text) : Buffer.from(text.bytes, "base64");
}

/** Type and path come first in a record, before the line that is too long. */
function parseCut(start: string): RgEvent | undefined {
  const found = /^\{"type":"(match|context)","data":\{"path":\{"(text|bytes)":("(?:[^"\\]|\\.)*")\}/.exec(start);
  if (!found) return undefined;
  const name = JSON.parse(found[3] ?? '""') as string;
  return {
    type: "long",
    path: found[2] === "bytes" ? Buffer.from(name, "base64").toString("utf8") : name,
    isMatch: found[1] === "match",
  };
}
