import type { SystemMessage } from "@tau/llm";
import type { EditedContent, Entry, SessionHeader } from "./entries.ts";
import { isJsonObject, type JsonObject } from "./parse-line.ts";
import { type RepairTally, repairContent, repairMessage, repairUsage } from "./repair-message.ts";

/** The file's own header: version 1 and 2 are read as 3. Undefined when it is not a header. */
export function toHeader(value: JsonObject): SessionHeader | undefined {
  const { id, timestamp, cwd, parentSession } = value;
  if (value.type !== "session" || typeof id !== "string" || id === "") return undefined;
  return {
    type: "session",
    version: 3,
    id,
    timestamp: typeof timestamp === "string" ? timestamp : new Date(0).toISOString(),
    cwd: typeof cwd === "string" ? cwd : "",
    ...(typeof parentSession === "string" && { parentSession }),
  };
}

// What a reader of these types relies on; other types are kept as they are.
const REQUIRED: Record<string, (value: JsonObject) => boolean> = {
  message: ({ message }) => isJsonObject(message) && typeof message.role === "string",
  compaction: ({ summary }) => typeof summary === "string",
  context_edit: ({ targetId, replacement }) =>
    typeof targetId === "string" &&
    (replacement === null || isEditedContent(isJsonObject(replacement) ? replacement.content : replacement)),
  branch_summary: ({ summary }) => typeof summary === "string",
  custom: ({ customType }) => typeof customType === "string",
  custom_message: ({ customType, content }) =>
    typeof customType === "string" && (typeof content === "string" || Array.isArray(content)),
  label: ({ targetId, label }) => typeof targetId === "string" && (label == null || typeof label === "string"),
};

/**
 * One parsed object as an entry, or undefined when it cannot be one. `id`, `parentId` and `timestamp` may still be
 * missing (version 1): the tree sets them. Shapes that older or broken writers left are repaired here, so that nobody
 * behind this border meets them (R103); `tally` counts what had to be left out for it.
 */
export function toEntry(value: JsonObject, tally: RepairTally = { blocks: 0 }): Entry | undefined {
  const { type } = value;
  if (typeof type !== "string" || type === "session") return undefined;
  const holds = Object.hasOwn(REQUIRED, type) ? REQUIRED[type] : undefined;
  if (holds?.(value) === false) return undefined;
  const entry = value as unknown as Entry;
  if (typeof entry.timestamp !== "string") entry.timestamp = new Date(0).toISOString();
  repairEntry(entry, tally);
  return entry;
}

/** Brings an entry of tau or of a file into the shape that files have. */
export function repairEntry(entry: Entry, tally: RepairTally = { blocks: 0 }): void {
  if (entry.type === "message") entry.message = repairMessage(entry.message, tally);
  else if (Object.hasOwn(REPAIRERS, entry.type)) REPAIRERS[entry.type]?.(entry as unknown as JsonObject, tally);
}

const REPAIRERS: Record<string, (entry: JsonObject, tally: RepairTally) => void> = {
  custom_message(entry, tally) {
    entry.content = repairContent(entry.content, tally);
  },
  context_edit(entry, tally) {
    const { replacement } = entry;
    if (replacement === null) return;
    entry.replacement = {
      content: repairContent(isJsonObject(replacement) ? replacement.content : replacement, tally),
    };
  },
  compaction(entry, tally) {
    repairUsageOf(entry);
    const system = entry.systemMessage;
    if (system === undefined) return;
    const sound = isJsonObject(system) && system.role === "system";
    if (sound) entry.systemMessage = repairMessage(system as unknown as SystemMessage, tally);
    else delete entry.systemMessage;
  },
  branch_summary: repairUsageOf,
  usage(entry) {
    entry.usage = repairUsage(entry.usage);
  },
  session_info(entry) {
    if (typeof entry.name !== "string") entry.name = "";
  },
};

function repairUsageOf(entry: JsonObject): void {
  if (entry.usage !== undefined) entry.usage = repairUsage(entry.usage);
}

function isEditedContent(value: unknown): value is EditedContent {
  return typeof value === "string" || Array.isArray(value);
}
