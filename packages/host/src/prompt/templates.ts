import { readdirSync } from "node:fs";
import { basename, join } from "node:path";
import { kindOf } from "../platform/home.ts";
import { readFrontMatter } from "./front-matter.ts";
import { isUnreadable, readTextHead } from "./text-file.ts";

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
 * is. Known places: `$1`…, `$@` and `$ARGUMENTS`, `${1:-default}`, `${@:-default}`, `${@:N}`, `${@:N:L}`.
 */
export function expandTemplate(text: string, templates: readonly PromptTemplate[]): string {
  const match = /^\/(\S+)(?:\s+([\s\S]*))?$/.exec(text);
  const template = match && templates.find(({ name }) => name === match[1]);
  if (!template) return text;
  return substitute(template.body, splitArguments(match[2] ?? ""));
}

const PLACE = /\$(?:(\d+)|(@|ARGUMENTS)|\{(\d+|@):-([^{}]*)\}|\{@:(\d+)(?::(\d+))?\})/g;

function substitute(body: string, args: readonly string[]): string {
  const all = args.join(" ");
  return body.replace(PLACE, (_whole, ...groups: (string | undefined)[]) => {
    const [position, every, optional, fallback, from, length] = groups;
    if (position !== undefined) return args[Number(position) - 1] ?? "";
    if (every !== undefined) return all;
    if (optional !== undefined) return (optional === "@" ? all : args[Number(optional) - 1]) || (fallback ?? "");
    const start = Math.max(0, Number(from) - 1);
    return args.slice(start, length === undefined ? undefined : start + Number(length)).join(" ");
  });
}

/**
 * Splits arguments as a shell user expects: a quote at the start of an argument holds it together, inside it a
 * backslash keeps the same quote; an apostrophe inside a word and a quote without its partner stay as text.
 */
export function splitArguments(text: string): string[] {
  const args: string[] = [];
  let rest = text.trim();
  while (rest !== "") {
    const quoted = /^"((?:\\"|[^"])*)"(?=\s|$)/.exec(rest) ?? /^'((?:\\'|[^'])*)'(?=\s|$)/.exec(rest);
    const whole = quoted?.[0] ?? /^\S+/.exec(rest)?.[0] ?? rest;
    const quote = whole[0] ?? "";
    args.push(quoted ? (quoted[1] ?? "").replaceAll(`\\${quote}`, quote) : whole);
    rest = rest.slice(whole.length).trimStart();
  }
  return args;
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
