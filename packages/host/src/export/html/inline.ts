import { escapeHtml, linkTarget } from "./escape.ts";

/**
 * Marks inside a line of Markdown as HTML: code, strong, emphasis, strike, links. Everything else is escaped text, raw
 * HTML too. One pass; what cannot be closed is plain text, so the tags always balance.
 */
export function inlineHtml(text: string): string {
  return new InlineWriter(text).write();
}

// Characters before the next mark are taken as they are.
const MARK = /\\[!-/:-@[-`{-~]|`+|!?\[|https?:\/\/|\*{1,3}|_{1,3}|~~|\n/gi;
// No bracket inside a label and one level of parentheses inside an address: each try ends at the next one, which keeps
// the whole linear.
const LINK =
  /(!?)\[([^[\]]{0,1000})\]\(\s{0,9}(<[^<>\n]{0,2000}>|(?:[^\s()<>]|\([^\s()<>]{0,500}\)){0,2000})(?:\s{1,9}(?:"[^"\n]{0,500}"|'[^'\n]{0,500}'))?\s{0,9}\)/y;
const BARE_ADDRESS = /https?:\/\/[^\s<>"'`[\]\\\x00-\x1f\x7f]+/iy;
/** Characters that end a sentence rather than an address. */
const TRAILING = ".,;:!?*_~";
const WORD = /[\p{L}\p{N}]/u;
// Longer runs of backticks are text: each length may look for its end once through the whole text.
const MAX_TICKS = 8;

const TAGS: Readonly<Record<string, readonly [string, string]>> = {
  "*": ["<em>", "</em>"],
  _: ["<em>", "</em>"],
  "**": ["<strong>", "</strong>"],
  __: ["<strong>", "</strong>"],
  "***": ["<strong><em>", "</em></strong>"],
  ___: ["<strong><em>", "</em></strong>"],
  "~~": ["<del>", "</del>"],
};

class InlineWriter {
  readonly #text: string;
  readonly #out: string[] = [];
  /** Marks that may still be closed, with their place in `#out`. */
  readonly #open: { mark: string; at: number }[] = [];
  readonly #openCount = new Map<string, number>();
  readonly #unclosedTicks = new Set<number>();

  constructor(text: string) {
    this.#text = text;
  }

  write(): string {
    for (let at = 0; at < this.#text.length; ) at = this.#step(at);
    return this.#out.join("");
  }

  /** Writes up to and including the next mark; gives the place behind it. */
  #step(from: number): number {
    MARK.lastIndex = from;
    const found = MARK.exec(this.#text);
    if (!found) return this.#plain(from, this.#text.length);
    const [mark] = found;
    const at = found.index;
    if (at > from) this.#plain(from, at);
    const first = mark[0] ?? "";
    if (first === "\\") return this.#plain(at + 1, at + 2);
    if (first === "`") return this.#code(at, mark.length);
    if (first === "\n") return this.#push("<br>\n", at + 1);
    if (first === "[" || first === "!") return this.#link(at, mark);
    if (first === "h" || first === "H") return this.#address(at, mark);
    return this.#emphasis(at, mark);
  }

  #plain(from: number, to: number): number {
    return this.#push(escapeHtml(this.#text.slice(from, to)), to);
  }

  #push(html: string, next: number): number {
    this.#out.push(html);
    return next;
  }

  #code(at: number, ticks: number): number {
    const start = at + ticks;
    const end = ticks > MAX_TICKS || this.#unclosedTicks.has(ticks) ? -1 : this.#closingTicks(start, ticks);
    if (end < 0) {
      this.#unclosedTicks.add(ticks);
      return this.#plain(at, start);
    }
    const code = this.#text.slice(start, end).replaceAll("\n", " ");
    const padded = code.startsWith(" ") && code.endsWith(" ") && code.trim() !== "";
    const inner = padded ? code.slice(1, -1) : code;
    return this.#push(`<code>${escapeHtml(inner)}</code>`, end + ticks);
  }

  #closingTicks(from: number, ticks: number): number {
    const fence = "`".repeat(ticks);
    for (let at = this.#text.indexOf(fence, from); at >= 0; ) {
      let end = at + ticks;
      while (this.#text[end] === "`") end++;
      if (end === at + ticks) return at;
      at = this.#text.indexOf(fence, end);
    }
    return -1;
  }

  #link(at: number, mark: string): number {
    LINK.lastIndex = at;
    const found = LINK.exec(this.#text);
    if (!found) return this.#plain(at, at + mark.length);
    const [whole, bang, label = "", address = ""] = found;
    const plainAddress = address.replace(/^<|>$/g, "");
    const target = linkTarget(plainAddress);
    const shown = bang ? `🖼 ${escapeHtml(label || "image")}` : inlineHtml(label) || escapeHtml(plainAddress);
    if (target === undefined)
      return this.#push(`${shown} (<code>${escapeHtml(plainAddress)}</code>)`, at + whole.length);
    return this.#push(anchor(target, shown), at + whole.length);
  }

  #address(at: number, mark: string): number {
    BARE_ADDRESS.lastIndex = at;
    const inWord = at > 0 && WORD.test(this.#text[at - 1] ?? "");
    const found = inWord ? undefined : BARE_ADDRESS.exec(this.#text)?.[0];
    if (found === undefined) return this.#plain(at, at + mark.length);
    const address = withoutEnd(found, found.includes("(") ? TRAILING : `${TRAILING})`);
    const target = linkTarget(address);
    if (target === undefined) return this.#plain(at, at + mark.length);
    return this.#push(anchor(target, target), at + address.length);
  }

  #emphasis(at: number, mark: string): number {
    const end = at + mark.length;
    const before = this.#text[at - 1] ?? " ";
    const after = this.#text[end] ?? " ";
    const inWord = mark[0] === "_" && WORD.test(before) && WORD.test(after);
    if (!inWord && !/\s/.test(before) && (this.#openCount.get(mark) ?? 0) > 0) return this.#close(mark, end);
    const opens = !inWord && !/\s/.test(after);
    if (opens) {
      this.#open.push({ mark, at: this.#out.length });
      this.#openCount.set(mark, (this.#openCount.get(mark) ?? 0) + 1);
    }
    return this.#push(escapeHtml(mark), end);
  }

  /** Closes the newest such mark; those opened since then stay text. */
  #close(mark: string, end: number): number {
    const [opening = "", closing = ""] = TAGS[mark] ?? [];
    for (let top = this.#open.pop(); top; top = this.#open.pop()) {
      this.#openCount.set(top.mark, (this.#openCount.get(top.mark) ?? 1) - 1);
      if (top.mark !== mark) continue;
      this.#out[top.at] = opening;
      break;
    }
    return this.#push(closing, end);
  }
}

function withoutEnd(text: string, characters: string): string {
  let end = text.length;
  while (end > 0 && characters.includes(text[end - 1] ?? " ")) end--;
  return text.slice(0, end);
}

function anchor(target: string, shown: string): string {
  return `<a href="${target}" rel="noopener noreferrer nofollow">${shown}</a>`;
}
