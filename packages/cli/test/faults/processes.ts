import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";

/** The commands of living processes that work below a folder; empty where there is no /proc. */
export function processesIn(folder: string): string[] {
  return pids().flatMap((pid) => {
    try {
      if (!readlinkSync(join("/proc", pid, "cwd")).startsWith(folder)) return [];
      // The dead that nobody has waited for yet have no command line.
      const command = readFileSync(join("/proc", pid, "cmdline"), "utf8")
        .replaceAll("\0", " ")
        .trim();
      return command === "" ? [] : [`${pid} ${command}`];
    } catch {
      // It ended while we looked.
      return [];
    }
  });
}

function pids(): string[] {
  try {
    return readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  } catch {
    return [];
  }
}
