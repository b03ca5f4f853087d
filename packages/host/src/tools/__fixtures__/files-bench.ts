import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { ImageContent } from "@tau/llm";
import { afterEach } from "vitest";
import type { ToolDefinition, ToolEnvironment, ToolFactory, ToolSettings } from "../definition.ts";
import { FileReads } from "../files/file-reads.ts";

const folders: string[] = [];

afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

/** A new folder with real files, removed after the test, and the tools in it. */
export interface FilesBench {
  environment: ToolEnvironment;
  cwd: string;
  /** Absolute path. */
  path(name: string): string;
  put(name: string, content: string | Uint8Array): string;
  bytes(name: string): Buffer;
  text(name: string): string;
  names(folder?: string): string[];
  run(create: ToolFactory, args: Record<string, unknown>): Promise<FileRun>;
}

export interface FileRun {
  text: string;
  images: ImageContent[];
  isError: boolean;
  details: Record<string, unknown>;
}

export function filesBench(settings: Partial<ToolSettings> = {}): FilesBench {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "tau-files-")));
  folders.push(root);
  const cwd = join(root, "work");
  mkdirSync(cwd);
  const environment: ToolEnvironment = {
    cwd,
    homeDir: join(root, "home"),
    env: {},
    tauDir: join(root, "tau"),
    tempDir: join(root, "temp"),
    settings: { bashTimeoutSeconds: 30, ...settings },
    fileReads: new FileReads(),
  };
  const path = (name: string) => join(cwd, name);
  return {
    environment,
    cwd,
    path,
    put(name, content) {
      mkdirSync(dirname(path(name)), { recursive: true });
      writeFileSync(path(name), content);
      return path(name);
    },
    bytes: (name) => readFileSync(path(name)),
    text: (name) => readFileSync(path(name), "utf8"),
    names: (folder = ".") => readdirSync(path(folder)).sort(),
    run: (create, args) => runFileTool(create(environment), args),
  };
}

/** Runs a tool as the loop does: arguments prepared, a throw told apart from an error result. */
export async function runFileTool(
  tool: ToolDefinition,
  args: Record<string, unknown>,
  signal = new AbortController().signal,
): Promise<FileRun> {
  const prepared = tool.prepareArguments?.(args) ?? args;
  const { content, details, isError } = await tool.execute("call_1", prepared, signal, () => undefined);
  return {
    text: content.map((block) => (block.type === "text" ? block.text : "")).join("\n"),
    images: content.filter((block) => block.type === "image"),
    isError: isError === true,
    details: (details ?? {}) as Record<string, unknown>,
  };
}

/** One edit of one file. */
export const oneEdit = (path: string, oldText: string, newText: string) => ({ path, edits: [{ oldText, newText }] });

const NOBODY = 65534;

export const isRoot = process.geteuid?.() === 0;

/** Runs as a user without rights, which is the only way for root to meet a permission. */
export async function asNobody<Result>(work: () => Promise<Result>): Promise<Result> {
  if (!isRoot) return work();
  process.setegid?.(NOBODY);
  process.seteuid?.(NOBODY);
  try {
    return await work();
  } finally {
    process.seteuid?.(0);
    process.setegid?.(0);
  }
}
