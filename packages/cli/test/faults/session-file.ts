import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type AgentMessage, brokenReplyResults } from "@tau/agent";

// biome-ignore lint/suspicious/noExplicitAny: records of many shapes
export type Json = any;

/** Sizes and contents of the one session file below a folder; nothing before the file is made. */
export interface FileState {
  readonly path: string;
  readonly bytes: Buffer;
  /** Every line that is whole and JSON. */
  readonly entries: Json[];
  /** Lines that are not: cut by a kill. */
  readonly torn: number;
}

/** @throws Error when there is more than one session */
export function readSessionFile(sessionsDir: string): FileState | undefined {
  const names = existsSync(sessionsDir) ? readdirSync(sessionsDir, { recursive: true, encoding: "utf8" }) : [];
  const files = names.filter((name) => name.endsWith(".jsonl"));
  if (files.length > 1) throw new Error(`one session was to be gone on with, but there are ${files.join(", ")}`);
  const [name] = files;
  if (name === undefined) return undefined;
  const path = join(sessionsDir, name);
  const bytes = readFileSync(path);
  const lines = bytes
    .toString("utf8")
    .split("\n")
    .filter((line) => line !== "");
  const entries = lines.flatMap(parse);
  return { path, bytes, entries, torn: lines.length - entries.length };
}

/**
 * The messages of a conversation in the file, with the results that follow from a reply that broke off. The prompt at
 * its head is not a message that anybody is shown.
 */
export function messagesOf(state: FileState | undefined): Json[] {
  const all = state?.entries ?? [];
  return all.flatMap(({ type, message }) =>
    type === "message" && message.role !== "system" ? withClosedCalls(message) : [],
  );
}

/** A message, and what closes its calls when it is a reply that broke off. */
export function withClosedCalls(message: AgentMessage): AgentMessage[] {
  return message.role === "assistant" ? [message, ...brokenReplyResults(message)] : [message];
}

function parse(line: string): Json[] {
  try {
    return [JSON.parse(line)];
  } catch (error) {
    if (error instanceof SyntaxError) return [];
    throw error;
  }
}
