import { readdirSync } from "node:fs";
import { basename, join } from "node:path";
import { kindOf } from "../platform/home.ts";
import { isUnreadable } from "../platform/read-head.ts";
import { readFrontMatter } from "./front-matter.ts";
import { readTextHead } from "./text-file.ts";

/** A prompt that the user calls by `/name args`. */
export interface PromptTemplate {
  readonly name: string;
  readonly description: string;
  readonly argumentHint: string | undefined;
  readonly path: string;
  readonly body: string;
}

export interface FoundTemplates {
  readonly templates: readonly PromptTemplate[];
  readonly warnings: readonly string[];
}

const MAX_TEMPLATE_BYTES = 256 * 1024;

/** Reads the `.md` files directly in the given folders, and single files; the first of a name wins. */
export function findTemplates(places: readonly string[]): FoundTemplates {
  const templates = new Map<string, PromptTemplate>();
  const warnings: string[] = [];
  for (const path of places.flatMap(markdownFiles)) {
    const head = readTextHead(path, MAX_TEMPLATE_BYTES);
    if (head === undefined) continue;
    if (isUnreadable(head)) {
      warnings.push(`${path}:1: this prompt template cannot be read: ${head.reason}`);
      continue;
    }
    const { fields, body, problem } = readFrontMatter(head.text);
    if (problem !== undefined) warnings.push(`${path}:${problem}`);
    const name = basename(path).replace(/\.md$/i, "");
    if (templates.has(name)) continue;
    const firstLine = body.split("\n").find((line) => line.trim() !== "") ?? "";
    const description = fields.description ?? firstLine.trim();
    templates.set(name, { name, description, argumentHint: fields["argument-hint"], path, body: body.trimEnd() });
  }
  return { templates: [...templates.values()], warnings };
}

/**
 * Expands a prompt of the form `/name args` when there is a template of this name; any other text comes back as it
 * is. Known places: `$1` to `$9`; `$@` and `$ARGUMENTS`, the text as it was typed; `${1:-default}`, `${@:-default}`;
 * `${@:N}` and `${@:N:L}`, the text from the Nth argument on. A backslash in front (`\$1`) keeps one as text.
 */
export function expandTemplate(text: string, templates: readonly PromptTemplate[]): string {
  const match = /^\/(\S+)(?:[ \t]*\r?\n|[ \t]+|$)/.exec(text);
  const template = match && templates.find(({ name }) => name === match[1]);
  if (!template) return text;
  const typed = text.slice(match[0].length).trimEnd();
  return substitute(template.body, { typed, list: argumentsIn(typed) });
}

/** One argument, and where it stands in the text that was typed. */
interface Argument {
  readonly value: string;
  readonly start: number;
  readonly end: number;
}

interface Arguments {
  readonly typed: string;
  readonly list: readonly Argument[];
}

// `$500`, `$1.50` and `$2,000` are amounts of money; no argument is meant there.
const PLACE =
  /\\(\$(?:\d|@|ARGUMENTS\b|\{[\d@]))|\$(?:([1-9])(?!\d|[.,]\d)|(@|ARGUMENTS\b)|\{([1-9]\d?|@):-([^{}]*)\}|\{@:(\d{1,2})(?::(\d{1,2}))?\})/g;

function substitute(body: string, { typed, list }: Arguments): string {
  const valueAt = (position: string) => list[Number(position) - 1]?.value ?? "";
  const replaced = (_whole: string, ...groups: (string | undefined)[]) => {
    const [escaped, position, every, optional, fallback, from, length] = groups;
    if (escaped !== undefined) return escaped;
    if (position !== undefined) return valueAt(position);
    if (every !== undefined) return typed;
    if (optional !== undefined) return (optional === "@" ? typed.trim() : valueAt(optional)) || (fallback ?? "");
    const start = Math.max(0, Number(from) - 1);
    const part = list.slice(start, length === undefined ? undefined : start + Number(length));
    return typed.slice(part[0]?.start ?? typed.length, part.at(-1)?.end);
  };
  return body.replace(PLACE, replaced);
}

/**
 * The values of arguments as a shell user expects them: a quote at the start of an argument holds it together, inside it
 * a backslash keeps the same quote; an apostrophe inside a word and a quote without its partner stay as text.
 */
export function splitArguments(text: string): string[] {
  return argumentsIn(text).map(({ value }) => value);
}

function argumentsIn(text: string): Argument[] {
  const list: Argument[] = [];
  let end = 0;
  for (let start = 0; start < text.length; start = end) {
    end = start + 1;
    if (isSpace(text[start])) continue;
    const close = closingQuote(text, start);
    if (close === undefined) {
      while (end < text.length && !isSpace(text[end])) end++;
      list.push({ value: text.slice(start, end), start, end });
      continue;
    }
    end = close + 1;
    const quote = text.charAt(start);
    list.push({ value: text.slice(start + 1, close).replaceAll(`\\${quote}`, quote), start, end });
  }
  return list;
}

/** Where the quote that begins at `start` ends, when one does and ends an argument there. */
function closingQuote(text: string, start: number): number | undefined {
  const quote = text[start];
  if (quote !== '"' && quote !== "'") return undefined;
  for (let at = start + 1; at < text.length; at++) {
    if (text[at] === "\\" && text[at + 1] === quote) at++;
    else if (text[at] === quote) return at + 1 === text.length || isSpace(text[at + 1]) ? at : undefined;
  }
  return undefined;
}

function isSpace(char: string | undefined): boolean {
  return char !== undefined && /\s/.test(char);
}

function markdownFiles(place: string): string[] {
  const kind = kindOf(place);
  if (kind === "file") return [place];
  if (kind !== "folder") return [];
  try {
    return readdirSync(place)
      .filter((name) => /\.md$/i.test(name))
      .sort()
      .map((name) => join(place, name));
  } catch {
    return []; // A folder that cannot be listed has no templates.
  }
}
