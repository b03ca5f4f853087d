/** Tells whether a path, relative and with `/` between its names, is meant. */
export type PathMatcher = (path: string) => boolean;

/** A pattern with more alternatives than this is cut off there: no one writes it by intent. */
const MAX_ALTERNATIVES = 256;

/**
 * The meaning of a glob: `*` and `?` inside a name (a leading dot is nothing special, R091), `**` over folders, `[a-z]`,
 * `[!a-z]`, `{a,b}`, `\` before a literal character, several globs with commas between them, `!` in front for "all but". Brackets and braces also
 * stand for themselves, since folders are named `[slug]` and `{{name}}`.
 * Without a slash it is about the last name of the path, else about the whole path; a slash in front is "this folder
 * only", one at the end "all in it". Matching takes at most the length of the pattern times that of the path.
 */
export function compileGlob(glob: string): PathMatcher {
  if (glob.startsWith("!") && glob.length > 1) {
    const excluded = compileGlob(glob.slice(1));
    return (path) => !excluded(path);
  }
  const patterns = expandBraces(glob).map((pattern) => compilePattern(pattern));
  const literal = compileLiteral(glob);
  return (path) => {
    const names = path.split("/");
    return patterns.some((matches) => matches(names)) || literal?.(path) === true;
  };
}

/**
 * The same for a glob whose brackets and braces are characters of names, such as `[slug]` and `{{name}}`; undefined when
 * it has none. Stars stay stars.
 */
export function compileLiteral(glob: string): PathMatcher | undefined {
  if (!/[[\]{}]/.test(glob)) return undefined;
  const matches = compilePattern(glob, { sets: false });
  return (path) => matches(path.split("/"));
}

/**
 * Splits a glob into the folder that it names without wildcards, "" when there is none, and the rest. A glob without
 * any wildcard is all folder: `{ folder: "a/b.txt", rest: "" }`.
 */
export function splitGlob(glob: string): { folder: string; rest: string } {
  const names = glob.split("/");
  const first = names.findIndex((name) => /[*?[\]{}\\!,]/.test(name));
  if (first === -1) return { folder: glob, rest: "" };
  return {
    folder: names.slice(0, first).join("/") || (glob.startsWith("/") ? "/" : ""),
    rest: names.slice(first).join("/"),
  };
}

/** `a{b,c}d` as `abd` and `acd`, nested ones too; commas outside of braces separate globs. */
function expandBraces(glob: string): string[] {
  const out: string[] = [];
  const queue = splitAtCommas(glob);
  for (
    let next = queue.shift();
    next !== undefined && out.length + queue.length < MAX_ALTERNATIVES;
    next = queue.shift()
  ) {
    const brace = firstBrace(next);
    if (!brace) out.push(next);
    else {
      const [before, after] = [next.slice(0, brace.start), next.slice(brace.end + 1)];
      queue.unshift(...splitAtCommas(next.slice(brace.start + 1, brace.end)).map((part) => before + part + after));
    }
  }
  return out;
}

function firstBrace(glob: string): { start: number; end: number } | undefined {
  let depth = 0;
  let start = -1;
  for (let at = 0; at < glob.length; at++) {
    const char = glob[at];
    if (char === "\\") at++;
    else if (char === "{" && depth++ === 0) start = at;
    else if (char === "}" && depth > 0 && --depth === 0) return { start, end: at };
  }
  return undefined;
}

function splitAtCommas(text: string): string[] {
  const parts: string[] = [];
  let depth = 0;
  let start = 0;
  for (let at = 0; at < text.length; at++) {
    const char = text[at];
    if (char === "\\") at++;
    else if (char === "{") depth++;
    else if (char === "}") depth = Math.max(0, depth - 1);
    else if (char === "," && depth === 0) {
      parts.push(text.slice(start, at));
      start = at + 1;
    }
  }
  return [...parts, text.slice(start)];
}

function compilePattern(pattern: string, { sets } = { sets: true }): (names: readonly string[]) => boolean {
  const text = pattern.trim();
  const path = text.replace(/^(\.?\/)+/, "");
  const names = path.replace(/(?<!\/)\/+$/, "").split("/");
  const parts = names.map((name) => (name === "**" ? ANY_FOLDERS : compileName(name, sets)));
  if (names.length === 1 && !/^\.?\//.test(text)) parts.unshift(ANY_FOLDERS);
  if (path.endsWith("/")) parts.push(ANY_FOLDERS);
  return (values) =>
    matchWithStars(parts, values, { isStar: (part) => part === ANY_FOLDERS, fits: (part, name) => part(name) });
}

type NameMatcher = (name: string) => boolean;

/** Stands for `**`; compared by identity. */
const ANY_FOLDERS: NameMatcher = () => true;

type NameItem = { kind: "star" } | { kind: "any" } | { kind: "char"; char: string } | { kind: "set"; set: RegExp };

function compileName(pattern: string, sets: boolean): NameMatcher {
  const items: NameItem[] = [];
  const chars = [...pattern];
  for (let at = 0; at < chars.length; at++) {
    const char = chars[at] ?? "";
    const set = sets && char === "[" ? readSet(chars, at) : undefined;
    if (set) {
      items.push({ kind: "set", set: set.set });
      at = set.end;
    } else if (char === "*") {
      if (items.at(-1)?.kind !== "star") items.push({ kind: "star" });
    } else if (char === "?") items.push({ kind: "any" });
    else items.push({ kind: "char", char: char === "\\" ? (chars[++at] ?? "\\") : char });
  }
  if (items.every((item) => item.kind === "char")) {
    const literal = items.map((item) => (item.kind === "char" ? item.char : "")).join("");
    return (name) => name === literal;
  }
  return (name) => matchWithStars(items, [...name], { isStar: (item) => item.kind === "star", fits: fitsChar });
}

function fitsChar(item: NameItem, char: string): boolean {
  if (item.kind === "set") return item.set.test(char);
  return item.kind === "any" || (item.kind === "char" && item.char === char);
}

/** A longer one is text: looking for the end of each `[` as far as it takes would be quadratic in the pattern. */
const MAX_SET = 256;

/** `[a-z]`, `[!a-z]`, `[]a]`; undefined when it is not closed, and then `[` is a character like others. */
function readSet(chars: readonly string[], start: number): { set: RegExp; end: number } | undefined {
  const negated = chars[start + 1] === "!" || chars[start + 1] === "^";
  const first = start + (negated ? 2 : 1);
  const length = chars.slice(first + 1, first + MAX_SET).indexOf("]");
  if (length === -1) return undefined;
  const end = first + 1 + length;
  const body = chars
    .slice(first, end)
    .join("")
    .replace(/[\]\\^[]/g, "\\$&");
  try {
    // regexp: one character.
    return { set: new RegExp(`^[${negated ? "^" : ""}${body}]$`, "u"), end };
  } catch {
    // A range that runs backwards ("z-a") is not a set.
    return undefined;
  }
}

/**
 * Matches a sequence against a pattern in which some items stand for any run. Only the last star is ever tried again, so
 * the cost is bounded by the product of the lengths.
 */
function matchWithStars<Item>(
  pattern: readonly Item[],
  values: readonly string[],
  { isStar, fits }: { isStar(item: Item): boolean; fits(item: Item, value: string): boolean },
): boolean {
  let [item, value, starItem, starValue] = [0, 0, -1, 0];
  while (value < values.length) {
    const here = pattern[item];
    if (here !== undefined && isStar(here)) {
      [starItem, starValue] = [item++, value];
    } else if (here !== undefined && fits(here, values[value] ?? "")) {
      item++;
      value++;
    } else if (starItem >= 0) {
      item = starItem + 1;
      value = ++starValue;
    } else return false;
  }
  return pattern.slice(item).every(isStar);
}
