import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";

/** Bundles a TypeScript program of this folder, so that a plain Node process can run it. */
export async function buildProgram(name: string, file: string): Promise<string> {
  const input = fileURLToPath(new URL(name, import.meta.url));
  const bundle = await rolldown({ input, platform: "node" });
  await bundle.write({ file, format: "esm" });
  await bundle.close();
  return file;
}

/** A running program and what it has said so far, line by line. */
export interface Program {
  child: ChildProcess;
  lines: string[];
  /** Waits for a line of stdout that begins with `start`. Fails when the program ends before. */
  line(start: string): Promise<string>;
  /** Waits for the end; the exit code, or the signal. */
  ended: Promise<number | string>;
  say(line: string): void;
}

/** Starts a program with its stdin and stdout as pipes; `shell` goes before it, e.g. `ulimit -f 8;`. */
export function startProgram(file: string, args: readonly string[], shell = ""): Program {
  const command = [process.execPath, file, ...args];
  const quoted = command.map((word) => `'${word}'`).join(" ");
  const child = shell === "" ? spawn(command[0] ?? "", command.slice(1)) : spawn("sh", ["-c", `${shell} exec ${quoted}`]);
  const lines: string[] = [];
  let rest = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    const parts = (rest + text).split("\n");
    rest = parts.pop() ?? "";
    lines.push(...parts);
    child.emit("lines");
  });
  let errors = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    errors += text;
  });
  const ended = once(child, "close").then(([code, signal]): number | string => code ?? signal);
  const line = async (start: string): Promise<string> => {
    for (;;) {
      const found = lines.find((text) => text.startsWith(start));
      if (found !== undefined) return found;
      const end = await Promise.race([once(child, "lines").then(() => undefined), ended]);
      const late = lines.some((text) => text.startsWith(start));
      if (end !== undefined && !late) throw new Error(`the program ended with ${end} before "${start}": ${errors}`);
    }
  };
  return { child, lines, line, ended, say: (text) => void child.stdin.write(`${text}\n`) };
}
