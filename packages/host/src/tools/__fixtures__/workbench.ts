import { mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { AgentToolResult } from "@tau/agent";
import { afterEach } from "vitest";
import { ProcessGroups } from "../../platform/process-groups.ts";
import type { ToolDefinition, ToolEnvironment, ToolSettings } from "../definition.ts";

export interface Workbench extends ToolEnvironment {
  processes: ProcessGroups;
}

const benches: Workbench[] = [];

afterEach(async () => {
  for (const bench of benches.splice(0)) {
    await bench.processes.dispose();
    rmSync(bench.tauDir, { recursive: true, force: true });
  }
});

/** A session's tool environment in a new directory; it is removed, and all its processes are ended, after the test. */
export function workbench(settings: Partial<ToolSettings> = {}, env: Record<string, string> = {}): Workbench {
  const tauDir = realpathSync(mkdtempSync(join(tmpdir(), "tau-tools-")));
  const cwd = realpathSync(mkdtempSync(join(tauDir, "work-")));
  const bench: Workbench = {
    cwd,
    homeDir: tauDir,
    env: { PATH: process.env.PATH ?? "", HOME: tauDir, LANG: "C.UTF-8", ...env },
    tauDir,
    tempDir: join(tauDir, "temp"),
    settings: { bashTimeoutSeconds: 30, ...settings },
    processes: new ProcessGroups(),
  };
  benches.push(bench);
  return bench;
}

export interface Run {
  text: string;
  isError: boolean;
  details: Record<string, unknown>;
  updates: string[];
}

/** Runs a tool once, as the loop does. */
export async function runTool(
  tool: ToolDefinition,
  args: Record<string, unknown>,
  options: { signal?: AbortSignal; onUpdate?: (text: string) => void } = {},
): Promise<Run> {
  const updates: string[] = [];
  const result = await tool.execute("call_1", args, options.signal ?? new AbortController().signal, (partial) => {
    updates.push(textOf(partial));
    options.onUpdate?.(textOf(partial));
  });
  return {
    text: textOf(result),
    isError: result.isError === true,
    details: (result.details ?? {}) as Record<string, unknown>,
    updates,
  };
}

export function textOf(result: AgentToolResult): string {
  return result.content.map((block) => (block.type === "text" ? block.text : `<${block.type}>`)).join("");
}

/** Waits until something is so; looks every few milliseconds. The test's own time-out is the limit. */
export async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((done) => setTimeout(done, 5));
}

/** Whether a process lives; a zombie does not. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !readProcState(pid).startsWith("Z");
  } catch {
    return false;
  }
}

function readProcState(pid: number): string {
  const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
  return stat.slice(stat.lastIndexOf(")") + 2);
}

/** Files in the temp dir of a bench, if it was made. */
export function tempFiles(bench: ToolEnvironment): string[] {
  try {
    return readdirSync(bench.tempDir);
  } catch {
    return [];
  }
}
