import { escapeHtml } from "./escape.ts";
import { inlineHtml } from "./inline.ts";

/** Quotes and lists inside of each other; deeper ones are text, so that no input can exhaust the stack. */
const MAX_DEPTH = 6;

const FENCE = /^ {0,3}(`{3,}|~{3,}(?!~))([^`]*)$/;
const HEADING = /^ {0,3}(#{1,6})(?:[ \t](.*))?$/;
const RULE = /^ {0,3}(?:(?:-[ \t]*){3,}|(?:\*[ \t]*){3,}|(?:_[ \t]*){3,})$/;
const QUOTE = /^ {0,3}> ?/;
const ITEM = /^( {0,3})([-*+]|\d{1,9}[.)])( {1,4}|\t|$)/;

/** Markdown as HTML that cannot hold anything but text, links and the marks below (R182). Line breaks are kept. */
export function markdownHtml(text: string): string {
  return blocksHtml(text.replaceAll("\r\n", "\n").split("\n"), 0);
}

interface Block {
  html: string;
  /** The line behind it. */
  next: number;
}

type BlockRule = (lines: readonly string[], at: number, depth: number) => Block | undefined;

const RULES: readonly BlockRule[] = [fence, heading, rule, quote, list, table];

function blocksHtml(lines: readonly string[], depth: number): string {
  const out: string[] = [];
  for (let at = 0; at < lines.length; ) {
    if (isBlank(lines[at])) {
      at++;
      continue;
    }
    const block = blockAt(lines, at, depth) ?? paragraph(lines, at);
    out.push(block.html);
    at = block.next;
  }
  return out.join("\n");
}

function blockAt(lines: readonly string[], at: number, depth: number): Block | undefined {
  for (const rule of RULES) {
    const block = rule(lines, at, depth);
    if (block) return block;
  }
  return undefined;
}

function isBlank(line: string | undefined): boolean {
  return line === undefined || line.trim() === "";
}

/** Whether a line begins a block of its own; the cheap half of the rules. */
function beginsBlock(line: string): boolean {
  return FENCE.test(line) || HEADING.test(line) || RULE.test(line) || QUOTE.test(line) || ITEM.test(line);
}

function paragraph(lines: readonly string[], at: number): Block {
  let next = at + 1;
  while (next < lines.length && !isBlank(lines[next]) && !beginsBlock(lines[next] ?? "")) {
    if (table(lines, next)) break;
    next++;
  }
  const text = lines.slice(at, next).map((line) => line.trim());
  return { html: `<p>${inlineHtml(text.join("\n"))}</p>`, next };
}

/** A fence without an end goes to the end of the text, as it does while it streams. */
function fence(lines: readonly string[], at: number): Block | undefined {
  const found = FENCE.exec(lines[at] ?? "");
  const mark = found?.[1];
  if (mark === undefined) return undefined;
  const indent = (lines[at] ?? "").indexOf(mark);
  const isEnd = (line: string) => {
    const end = line.trim();
    return end.length >= mark.length && end === (mark[0] ?? "").repeat(end.length);
  };
  const code: string[] = [];
  let next = at + 1;
  for (; next < lines.length && !isEnd(lines[next] ?? ""); next++) code.push(outdent(lines[next] ?? "", indent));
  const language = (found?.[2] ?? "").trim().split(/\s/)[0] ?? "";
  const name = language === "" ? "" : `<span class="language">${escapeHtml(language)}</span>`;
  return { html: `<pre class="code">${name}<code>${escapeHtml(code.join("\n"))}</code></pre>`, next: next + 1 };
}

function outdent(line: string, columns: number): string {
  let cut = 0;
  while (cut < columns && line[cut] === " ") cut++;
  return line.slice(cut);
}

function heading(lines: readonly string[], at: number): Block | undefined {
  const found = HEADING.exec(lines[at] ?? "");
  if (!found) return undefined;
  // The page's own headings are above these.
  const level = Math.min(6, (found[1] ?? "#").length + 2);
  const text = (found[2] ?? "").trim().replace(/(?:^|[ \t])#+$/, "");
  return { html: `<h${level}>${inlineHtml(text)}</h${level}>`, next: at + 1 };
}

function rule(lines: readonly string[], at: number): Block | undefined {
  return RULE.test(lines[at] ?? "") ? { html: "<hr>", next: at + 1 } : undefined;
}

function quote(lines: readonly string[], at: number, depth: number): Block | undefined {
  if (depth >= MAX_DEPTH || !QUOTE.test(lines[at] ?? "")) return undefined;
  let next = at;
  const inner: string[] = [];
  for (; next < lines.length && QUOTE.test(lines[next] ?? ""); next++) {
    inner.push((lines[next] ?? "").replace(QUOTE, ""));
  }
  return { html: `<blockquote>${blocksHtml(inner, depth + 1)}</blockquote>`, next };
}

function list(lines: readonly string[], at: number, depth: number): Block | undefined {
  const first = depth < MAX_DEPTH ? ITEM.exec(lines[at] ?? "") : undefined;
  if (!first) return undefined;
  const ordered = /\d/.test(first[2] ?? "");
  const items: string[] = [];
  let next = at;
  for (;;) {
    const found = ITEM.exec(lines[next] ?? "");
    if (!found || /\d/.test(found[2] ?? "") !== ordered || RULE.test(lines[next] ?? "")) break;
    const item = itemLines(lines, next, found);
    items.push(`<li>${unwrapped(blocksHtml(item.lines, depth + 1))}</li>`);
    next = item.next;
  }
  const start = Number.parseInt(first[2] ?? "1", 10);
  const open = ordered ? `<ol${start > 1 ? ` start="${start}"` : ""}>` : "<ul>";
  return { html: `${open}${items.join("\n")}</${ordered ? "ol" : "ul"}>`, next };
}

/** The lines of one item without their indent: what is indented below it, and lines that continue with its paragraph. */
function itemLines(lines: readonly string[], at: number, found: RegExpExecArray): { lines: string[]; next: number } {
  const [marker] = found;
  const indent = Math.max(marker.length, 2);
  const inner = [(lines[at] ?? "").slice(marker.length)];
  let next = at + 1;
  for (; next < lines.length; next++) {
    const line = lines[next] ?? "";
    const isInside = /^(?: {2,}|\t)/.test(line) && (leading(line) >= indent || !ITEM.test(line));
    if (isInside) inner.push(outdent(line.replace(/^\t/, "    "), indent));
    else if (isBlank(line) && goesOn(lines, next + 1, indent)) inner.push("");
    else if (!isBlank(line) && !isBlank(lines[next - 1]) && !beginsBlock(line)) inner.push(line);
    else break;
  }
  // Blank lines between items belong to none of them.
  while (isBlank(lines[next]) && next < lines.length && ITEM.test(lines[next + 1] ?? "")) next++;
  return { lines: inner, next };
}

function goesOn(lines: readonly string[], at: number, indent: number): boolean {
  return !isBlank(lines[at]) && leading(lines[at] ?? "") >= indent;
}

function leading(line: string): number {
  return line.length - line.trimStart().length;
}

/** An item that is one paragraph needs no paragraph around it. */
function unwrapped(html: string): string {
  const end = html.indexOf("</p>");
  if (!html.startsWith("<p>") || html.indexOf("<p>", 3) >= 0) return html;
  return html.slice(3, end) + html.slice(end + 4);
}

function table(lines: readonly string[], at: number): Block | undefined {
  const head = lines[at] ?? "";
  const marks = lines[at + 1];
  if (!head.includes("|") || !marks?.includes("-") || !marks.includes("|")) return undefined;
  const aligns = cellsOf(marks);
  const columns = cellsOf(head);
  if (aligns.length !== columns.length || !aligns.every((cell) => /^:?-+:?$/.test(cell))) return undefined;
  const rows: string[] = [rowHtml(columns, "th", columns.length)];
  let next = at + 2;
  for (; next < lines.length && (lines[next] ?? "").includes("|"); next++) {
    rows.push(rowHtml(cellsOf(lines[next] ?? ""), "td", columns.length));
  }
  return { html: `<div class="wide"><table>${rows.join("\n")}</table></div>`, next };
}

function cellsOf(line: string): string[] {
  const inner = line.trim().replace(/^\|/, "").replace(/\|$/, "");
  return inner.split("|").map((cell) => cell.trim());
}

function rowHtml(cells: readonly string[], tag: "th" | "td", columns: number): string {
  const shown = cells.slice(0, columns).map((cell) => `<${tag}>${inlineHtml(cell)}</${tag}>`);
  return `<tr>${shown.join("")}</tr>`;
}
