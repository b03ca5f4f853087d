/** A Markdown file taken apart: what its head says, and the text below it. */
export interface FrontMatter {
  /** Scalar values by lower-case key; values that are not plain text are absent. */
  readonly fields: Readonly<Record<string, string>>;
  readonly body: string;
  /** The first problem, as `line: what`; at most one a file, so that nobody is flooded (R167). */
  readonly problem: string | undefined;
}

interface Reader {
  readonly lines: readonly string[];
  readonly fields: Record<string, string>;
  problem: string | undefined;
}

const FENCE = /^---\s*$/;
const KEY = /^([A-Za-z][\w-]*)\s*:(.*)$/;
/** Stricter, to see where a head without a closing line ends: "http://…" is text. */
const CLEAR_KEY = /^[A-Za-z][\w-]*\s*:(\s|$)/;

/**
 * Reads the head of a Markdown file line by line as `key: value`, as pi's skills and prompts have it.
 * It is not a YAML parser and takes what YAML refuses: a colon in a value, tabs, a byte order mark, CRLF, a missing
 * closing line (R167).
 */
export function readFrontMatter(text: string): FrontMatter {
  const lines = text.replace(/^\uFEFF/, "").split(/\r\n|\r|\n/);
  if (!FENCE.test(lines[0] ?? "")) return { fields: {}, body: lines.join("\n"), problem: undefined };
  const close = lines.findIndex((line, index) => index > 0 && FENCE.test(line));
  const end = close === -1 ? firstNonField(lines) : close;
  const reader: Reader = { lines: lines.slice(0, end), fields: {}, problem: undefined };
  if (close === -1) reader.problem = "1: the head is not closed by a line ---";
  for (let at = 1; at < end; ) at = readField(reader, at);
  return {
    fields: reader.fields,
    body: lines
      .slice(close === -1 ? end : end + 1)
      .join("\n")
      .replace(/^\n+/, ""),
    problem: reader.problem,
  };
}

/** Without a closing line the head is as long as its lines look like fields. */
function firstNonField(lines: readonly string[]): number {
  const at = lines.findIndex((line, index) => index > 0 && !CLEAR_KEY.test(line) && !/^\s+\S/.test(line));
  return at === -1 ? lines.length : at;
}

/** Reads the field at line `at`; returns the line after it. */
function readField(reader: Reader, at: number): number {
  const line = reader.lines[at] ?? "";
  if (/^\s*(#|$)/.test(line)) return at + 1;
  const match = KEY.exec(line.trimEnd());
  if (!match) {
    reader.problem ??= `${at + 1}: not a line of the form key: value`;
    return at + 1;
  }
  const key = (match[1] ?? "").toLowerCase();
  const next = endOfIndented(reader.lines, at + 1);
  const below = reader.lines.slice(at + 1, next);
  const value = fieldValue((match[2] ?? "").trim(), below);
  if (value === undefined) reader.problem ??= `${at + 1}: the value of "${key}" is not a plain text`;
  else if (value !== "" && !(key in reader.fields)) reader.fields[key] = value;
  return next;
}

function endOfIndented(lines: readonly string[], from: number): number {
  let at = from;
  while (at < lines.length && /^(\s+\S|\s*$)/.test(lines[at] ?? "")) at++;
  return at;
}

/** A scalar: plain, quoted, or a block; undefined for a list or a mapping. */
function fieldValue(first: string, below: readonly string[]): string | undefined {
  const rest = below.map((line) => line.trim());
  if (/^[|>][+-]?\d?$/.test(first)) return rest.join(first.startsWith("|") ? "\n" : " ").trim();
  if (/^["']/.test(first)) return unquote([first, ...rest].join(" ").trim());
  if (/^[[{]/.test(first)) return undefined;
  // A nested mapping (metadata: …) is legal and of no interest here.
  if (first === "") return rest.every((line) => line === "" || /^(- |[\w-]+\s*:)/.test(line)) ? "" : joinWords(rest);
  return joinWords([first, ...rest]);
}

function joinWords(lines: readonly string[]): string {
  return lines.filter((line) => line !== "").join(" ");
}

function unquote(text: string): string {
  const quote = text[0];
  const end = text.lastIndexOf(quote ?? "");
  if (end <= 0) return text;
  const inner = text.slice(1, end);
  if (quote === "'") return inner.replaceAll("''", "'");
  return inner.replace(/\\(["\\/nt])/g, (_, char: string) => (char === "n" ? "\n" : char === "t" ? "\t" : char));
}
