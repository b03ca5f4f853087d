import { dirname, join } from "node:path";
import { kindOf, realPathOf } from "../platform/home.ts";
import { isUnreadable } from "../platform/read-head.ts";
import { escapeOf } from "./project-tree.ts";
import { readTextHead } from "./text-file.ts";

/** Largest part of one context file that is used, in bytes; a note says what was left out. */
export const MAX_CONTEXT_FILE_BYTES = 64 * 1024;
/** Largest sum over all context files, in bytes. */
const MAX_CONTEXT_BYTES = 256 * 1024;

/** Instructions of a user or a project, as they go into the prompt. */
export interface ContextFile {
  readonly path: string;
  readonly text: string;
}

export interface ContextFileOptions {
  /** Home of tau, whose files come first. */
  tauDir: string;
  /** Working directory as the user named it, so that a symlinked tree has the instructions of its own path. */
  cwd: string;
  /** Names to look for in each folder, the preferred one first. */
  names: readonly string[];
}

/**
 * Finds the context files: those of tau's home, then of each folder from the root down to `cwd`; nothing stops the
 * walk, a nested repository neither. In one folder every name counts, in the order of `names`. Each file is
 * used once: the same file by another path or link, a copy of one that is already there, and a file that only points
 * to one (`@AGENTS.md`) are left out, and so is one of a project that is a link out of it. The collector that comes back holds the files and finds later ones.
 */
export function findContextFiles(options: ContextFileOptions): ContextFileCollector {
  const collector = new ContextFileCollector(options.names, options.cwd);
  collector.addHome(options.tauDir);
  for (const folder of foldersDownTo(options.cwd)) collector.addFolder(folder);
  return collector;
}

/** All folders from the root to `path`, `path` last. */
export function foldersDownTo(path: string): string[] {
  const folders = [path];
  for (let at = dirname(path), below = path; at !== below; below = at, at = dirname(at)) folders.unshift(at);
  return folders;
}

/** Collects context files and knows which ones it has. Used at the start and for folders that are met later. */
export class ContextFileCollector {
  /** In the order of the prompt: general first, the nearest to the working directory last. */
  readonly files: ContextFile[] = [];
  /** One line a file that was left out or cut. */
  readonly warnings: string[] = [];
  readonly #names: readonly string[];
  readonly #realPaths = new Set<string>();
  readonly #texts = new Set<string>();
  readonly #cwd: string;
  #bytesLeft = MAX_CONTEXT_BYTES;

  /**
   * @param names names to look for in each folder, the preferred one first
   * @param cwd working directory as the user named it
   */
  constructor(names: readonly string[], cwd: string) {
    this.#names = names;
    this.#cwd = cwd;
  }

  /** Adds the files of tau's home, which are the user's own wherever they lead; returns those that are new. */
  addHome(folder: string): ContextFile[] {
    return this.#add(folder, () => false);
  }

  /** Adds the files of one folder of a project; returns those that are new. */
  addFolder(folder: string): ContextFile[] {
    return this.#add(folder, (path, realPath) => this.#isRefused(folder, path, realPath));
  }

  #add(folder: string, isRefused: (path: string, realPath: string) => boolean): ContextFile[] {
    const added: ContextFile[] = [];
    for (const name of this.#names) {
      const path = this.#chosen(folder, name);
      const realPath = realPathOf(path);
      if (realPath === undefined || this.#realPaths.has(realPath) || isRefused(path, realPath)) continue;
      const file = this.#read(path, realPath);
      if (file) added.push(file);
    }
    this.files.push(...added);
    return added;
  }

  /** `AGENTS.override.md` takes the place of the file beside it, as other agents have it. */
  #chosen(folder: string, name: string): string {
    const instead = join(folder, name.replace(/\.md$/, ".override.md"));
    return kindOf(instead) === "file" ? instead : join(folder, name);
  }

  #isRefused(folder: string, path: string, realPath: string): boolean {
    const escaped = escapeOf({ folder, path, realPath, cwd: this.#cwd });
    if (escaped === undefined) return false;
    this.warnings.push(
      `context file ${path} is left out: it leads to ${realPath}, outside of ${escaped.tree}; put a copy in its place`,
    );
    return true;
  }

  #read(path: string, realPath: string): ContextFile | undefined {
    const head = readTextHead(path, MAX_CONTEXT_FILE_BYTES);
    if (head === undefined) return undefined;
    this.#realPaths.add(realPath);
    if (isUnreadable(head)) {
      this.warnings.push(`context file ${path} is left out: ${head.reason}`);
      return undefined;
    }
    const text = head.text.replace(/^\uFEFF/, "").trim();
    if (text === "" || this.#texts.has(text) || this.#isPointer(text)) return undefined;
    this.#texts.add(text);
    return this.#fit(path, text, head.bytes);
  }

  /** A file such as `@AGENTS.md` holds nothing of its own. */
  #isPointer(text: string): boolean {
    return this.#names.some((name) => text === `@${name}` || text === `@./${name}`);
  }

  #fit(path: string, text: string, bytesOnDisk: number): ContextFile | undefined {
    const room = Math.min(this.#bytesLeft, MAX_CONTEXT_FILE_BYTES);
    const size = Buffer.byteLength(text);
    if (room < 1024 && size > room) {
      this.warnings.push(
        `context file ${path} is left out: the context files together are over ${MAX_CONTEXT_BYTES} bytes`,
      );
      return undefined;
    }
    const shown = size > room ? cutAtLine(text, room) : text;
    this.#bytesLeft -= Buffer.byteLength(shown);
    if (bytesOnDisk <= MAX_CONTEXT_FILE_BYTES && shown === text) return { path, text };
    this.warnings.push(`context file ${path} is cut: ${Buffer.byteLength(shown)} of ${bytesOnDisk} bytes are used`);
    return { path, text: `${shown}\n[Cut here: ${bytesOnDisk} bytes in all. Read the file for the rest.]` };
  }
}

function cutAtLine(text: string, maxBytes: number): string {
  const cut = new TextDecoder().decode(Buffer.from(text).subarray(0, maxBytes), { stream: true });
  const lineEnd = cut.lastIndexOf("\n");
  return lineEnd > maxBytes / 2 ? cut.slice(0, lineEnd) : cut;
}
