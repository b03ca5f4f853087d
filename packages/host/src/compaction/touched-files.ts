import type { AgentMessage } from "@tau/agent";
import { type FactsOf, touchedPaths } from "../tools/call-facts.ts";

/** Files that a session read and changed, as the tools named them; kept in a compaction entry's `details`. */
export interface TouchedFiles {
  readonly readFiles: readonly string[];
  readonly modifiedFiles: readonly string[];
}

const NOTHING: TouchedFiles = { readFiles: [], modifiedFiles: [] };
/** The newest names are the useful ones; a list without end would make the context larger. */
const MOST_NAMES = 200;

/** Parses the `details` of an older compaction; anything unknown counts as nothing. */
export function touchedFilesOf(details: unknown): TouchedFiles {
  if (typeof details !== "object" || details === null) return NOTHING;
  const names = (value: unknown) =>
    Array.isArray(value) ? value.filter((name): name is string => typeof name === "string") : [];
  const { readFiles, modifiedFiles } = details as { readFiles?: unknown; modifiedFiles?: unknown };
  return { readFiles: names(readFiles), modifiedFiles: names(modifiedFiles) };
}

/** Adds the files that the calls of these messages name. A changed file is no longer listed as read. */
export function collectTouchedFiles(
  messages: readonly AgentMessage[],
  before: TouchedFiles,
  factsOf?: FactsOf,
): TouchedFiles {
  const found = { readFiles: new Set(before.readFiles), modifiedFiles: new Set(before.modifiedFiles) };
  for (const message of messages) {
    if (message.role !== "assistant") continue;
    for (const block of message.content) {
      if (block.type !== "toolCall") continue;
      const { reads, writes } = touchedPaths({ name: block.name, args: block.arguments }, factsOf);
      for (const path of reads) found.readFiles.add(path);
      for (const path of writes) found.modifiedFiles.add(path);
    }
  }
  const readFiles = [...found.readFiles].filter((name) => !found.modifiedFiles.has(name));
  return { readFiles: readFiles.slice(-MOST_NAMES), modifiedFiles: [...found.modifiedFiles].slice(-MOST_NAMES) };
}

/** The lists as they stand at the end of a summary; empty when there is nothing to list. */
export function describeTouchedFiles({ readFiles, modifiedFiles }: TouchedFiles): string {
  const list = (title: string, names: readonly string[]) =>
    names.length > 0 ? `\n\n## ${title}\n${names.map((name) => `- ${name}`).join("\n")}` : "";
  return list("Files changed", modifiedFiles) + list("Files read", readFiles);
}
