import { type Dirent, readdirSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { kindOf, realPathOf } from "../platform/home.ts";
import { isUnreadable } from "../platform/read-head.ts";
import { readFrontMatter } from "./front-matter.ts";
import { readTextHead } from "./text-file.ts";

/** A piece of know-how that the model reads when a task calls for it. Only this goes into the prompt. */
export interface Skill {
  readonly name: string;
  readonly description: string;
  /** The file with the instructions. */
  readonly path: string;
  /** Not offered to the model; the user calls it by name. */
  readonly hidden: boolean;
}

export interface FoundSkills {
  readonly skills: readonly Skill[];
  /** One line a problem, with file and line; at most one a file. */
  readonly warnings: readonly string[];
}

/** Longest description that is used, in characters, as the format has it. */
const MAX_DESCRIPTION = 1024;
const MAX_NAME = 64;
/** How deep and how wide a skills folder is searched; a home directory by mistake must not stop the start. */
const MAX_DEPTH = 6;
const MAX_FOLDERS = 2000;
const MAX_SKILL_BYTES = 256 * 1024;

/**
 * Finds skills in folders (searched downwards for `SKILL.md`) and single files, earlier places first; a name that
 * is there already wins over a later one. Symlinked folders are followed, each real folder once.
 */
export function findSkills(places: readonly string[]): FoundSkills {
  const search: Search = { files: [], flat: new Set(), seen: new Set() };
  for (const place of places) {
    visit(place, 0, search);
    if (!AGENTS_FOLDER.test(place)) addFlatFiles(place, search);
  }
  const byName = new Map<string, Skill>();
  const warnings: string[] = [];
  for (const path of search.files) {
    const skill = readSkill(path, { warnings, isFlat: search.flat.has(path) });
    if (!skill) continue;
    const first = byName.get(skill.name);
    if (first) warnings.push(`${path}:1: the name "${skill.name}" is taken by ${first.path}; this one is not used`);
    else byName.set(skill.name, skill);
  }
  return { skills: [...byName.values()], warnings };
}

/**
 * Expands a prompt of the form `/skill:name request` to the instructions of the skill and the request; any other text
 * comes back as it is, also when there is no such skill or its file is gone.
 */
export function expandSkill(text: string, skills: readonly Skill[]): string {
  const match = /^\/skill:(\S+)(?:\s+([\s\S]*))?$/.exec(text);
  const skill = match && skills.find(({ name }) => name === match[1]);
  const head = skill ? readTextHead(skill.path, MAX_SKILL_BYTES) : undefined;
  if (!skill || !head || isUnreadable(head)) return text;
  const { body } = readFrontMatter(head.text);
  const note = `Paths in it are relative to ${dirname(skill.path)}.`;
  const request = match?.[2] ?? "";
  return `<skill name="${skill.name}" path="${skill.path}">\n${note}\n\n${body.trim()}\n</skill>\n\n${request}`.trim();
}

interface Search {
  readonly files: string[];
  /** Those of `files` that stand directly in a skills folder. */
  readonly flat: Set<string>;
  readonly seen: Set<string>;
}

function visit(path: string, depth: number, search: Search): void {
  const real = realPathOf(path);
  if (real === undefined || search.seen.has(real) || search.seen.size > MAX_FOLDERS) return;
  search.seen.add(real);
  const kind = kindOf(real);
  if (kind === "file") search.files.push(path);
  if (kind !== "folder") return;
  const entries = folderEntries(real);
  // A skill's own folders hold its material, not more skills.
  if (entries.some((entry) => entry.name === "SKILL.md")) return void visit(join(path, "SKILL.md"), depth, search);
  if (depth >= MAX_DEPTH) return;
  for (const entry of entries) {
    const isFolder = entry.isDirectory() || entry.isSymbolicLink();
    if (isFolder && entry.name !== "node_modules" && entry.name !== ".git") {
      visitFolder(join(path, entry.name), depth + 1, search);
    }
  }
}

/** Other programs share this folder, and none of them takes single files from it. */
const AGENTS_FOLDER = /[\\/]\.agents[\\/]skills[\\/]?$/;

/** Files `<name>.md` directly in a skills folder are skills as well, as pi has it. */
function addFlatFiles(place: string, search: Search): void {
  if (kindOf(place) !== "folder" || kindOf(join(place, "SKILL.md")) === "file") return;
  for (const { name } of folderEntries(place)) {
    const path = join(place, name);
    if (!/\.md$/i.test(name) || kindOf(path) !== "file") continue;
    search.files.push(path);
    search.flat.add(path);
  }
}

/** Below a skills folder only folders count; a link to a file is not a skill. */
function visitFolder(path: string, depth: number, search: Search): void {
  if (kindOf(path) === "folder") visit(path, depth, search);
}

function folderEntries(path: string): Dirent[] {
  try {
    return readdirSync(path, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1));
  } catch {
    return []; // A folder that cannot be listed has no skills.
  }
}

interface Reading {
  readonly warnings: string[];
  /** Without a description of its own it may be any text, such as a README. */
  readonly isFlat: boolean;
}

function readSkill(path: string, { warnings, isFlat }: Reading): Skill | undefined {
  const head = readTextHead(path, MAX_SKILL_BYTES);
  if (head === undefined) return undefined;
  if (isUnreadable(head)) {
    warnings.push(`${path}:1: this skill cannot be read: ${head.reason}`);
    return undefined;
  }
  const { fields, body, problem } = readFrontMatter(head.text);
  if (isFlat && !fields.description) return undefined;
  const problems = problem === undefined ? [] : [problem];
  const name = oneLine(fields.name ?? "") || folderName(path);
  const description = oneLine(fields.description ?? "") || firstLine(body);
  if (description === "") {
    warnings.push(`${path}:1: this skill has no description and is not used; add "description: …" to its head`);
    return undefined;
  }
  if (description.length > MAX_DESCRIPTION) problems.push(`1: the description is cut to ${MAX_DESCRIPTION} characters`);
  if (problems[0] !== undefined) warnings.push(`${path}:${problems[0]}`);
  return {
    name: clip(name, MAX_NAME),
    description: clip(description, MAX_DESCRIPTION),
    path,
    hidden: fields["disable-model-invocation"] === "true",
  };
}

function folderName(path: string): string {
  const name = basename(path);
  return name === "SKILL.md" ? basename(dirname(path)) : name.replace(/\.md$/i, "");
}

function firstLine(body: string): string {
  const line = body.split("\n").find((text) => text.trim() !== "") ?? "";
  return oneLine(line.replace(/^#+\s*/, ""));
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}

/** Never ends in half a surrogate pair, which some providers refuse. */
function clip(text: string, length: number): string {
  return text.slice(0, length).replace(/[\uD800-\uDBFF]$/, "");
}
