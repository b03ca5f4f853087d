import { randomUUID } from "node:crypto";
import { accessSync, constants, rmSync, statSync, writeFileSync } from "node:fs";
import { basename, delimiter, join } from "node:path";
import { makeFolder } from "./make-folder.ts";

/** The program that runs commands. */
export interface Shell {
  path: string;
  /** Options that keep its start-up files out (R074). */
  options: readonly string[];
}

/** One way to hand a command to a shell. */
export interface ShellInvocation {
  args: readonly string[];
  /** To be called when the shell has ended. */
  release(): void;
}

/** Linux takes at most 128 KiB in one argument (MAX_ARG_STRLEN). */
const MAX_ARGUMENT_BYTES = 100_000;

const START_UP_OPTIONS: Readonly<Record<string, readonly string[]>> = {
  bash: ["--norc", "--noprofile"],
  zsh: ["-f"],
  fish: ["--no-config"],
};

const WINDOWS_SHELLS = ["C:\\Program Files\\Git\\bin\\bash.exe", "C:\\Program Files (x86)\\Git\\bin\\bash.exe"];

/**
 * Finds the shell: the configured one (a path, or a name to look for on the PATH), else bash, else sh. Throws when there is none, or the configured one cannot be
 * run; the message says what to do.
 */
export function findShell(configured: string | undefined, env: Readonly<Record<string, string>>): Shell {
  if (configured !== undefined) {
    const path = /[/\\]/.test(configured) ? configured : findOnPath(configured, env);
    if (path !== undefined && isExecutable(path)) return describe(path);
    throw new Error(
      `The shell "${configured}" (setting shellPath) is not an executable file: correct the setting or remove it; ` +
        "commands cannot be run until then.",
    );
  }
  const usual = process.platform === "win32" ? WINDOWS_SHELLS : ["/bin/bash", "/usr/bin/bash"];
  const found = usual.find(isExecutable) ?? findOnPath("bash", env) ?? ["/bin/sh"].find(isExecutable);
  if (found === undefined) throw new Error("No bash was found. Install it, or name a shell by the setting shellPath.");
  return describe(found);
}

/** The first executable file of that name on the PATH of `env`; undefined when there is none. */
export function findOnPath(name: string, env: Readonly<Record<string, string>>): string | undefined {
  const suffixes = process.platform === "win32" ? [".exe", ".cmd"] : [""];
  const folders = (env.PATH ?? env.Path ?? "").split(delimiter).filter((folder) => folder !== "");
  return folders.flatMap((folder) => suffixes.map((suffix) => join(folder, name + suffix))).find(isExecutable);
}

/**
 * How `command` is handed over: as an argument, so that stdin stays free (R071). What is too long for one, and all of it
 * on Windows, where backslashes in arguments are halved (R077), goes by a file (0600) that is removed afterwards.
 */
export function invocationOf(shell: Shell, command: string, directory: string): ShellInvocation {
  if (process.platform !== "win32" && Buffer.byteLength(command) <= MAX_ARGUMENT_BYTES) {
    return { args: [...shell.options, "-c", command], release: () => undefined };
  }
  makeFolder(directory, 0o700);
  const path = join(directory, `command-${randomUUID()}.sh`);
  writeFileSync(path, command, { mode: 0o600, flag: "wx" });
  return { args: [...shell.options, path], release: () => rmSync(path, { force: true }) };
}

function describe(path: string): Shell {
  return { path, options: START_UP_OPTIONS[basename(path).replace(/\.exe$/i, "")] ?? [] };
}

/** Whether it is a file that this user may run. */
export function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    // Not there, or not for us: the next one is looked at.
    return false;
  }
}
