import { secretMask } from "../platform/secret-mask.ts";
import type { Entry } from "../store/entries.ts";
import type { SessionStore } from "../store/session-store.ts";
import { nameOf } from "./entry-text.ts";
import { type Outline, outlineOf } from "./outline.ts";

export interface ExportOptions {
  /** The end of the branch to show; default: the session's leaf. */
  leafId?: string | null;
  /** Values that must not be shown wherever they occur. */
  secrets?: readonly string[];
  /** Characters of one tool result, one set of arguments, one diff that are shown at most. */
  maxResultChars?: number;
}

const MAX_RESULT_CHARS = 32 * 1024;
/** Characters of one text of a user or a model. */
export const MAX_TEXT_CHARS = 512 * 1024;

/** A session as an export reads it: its shape, and its entries one at a time, with secrets masked. */
export interface Source {
  readonly outline: Outline;
  readonly title: string;
  readonly id: string;
  readonly cwd: string;
  readonly created: string;
  readonly parentSession: string | undefined;
  readonly warnings: readonly string[];
  readonly maxResult: number;
  /** An entry by its number; undefined when it cannot be shown. */
  read(number: number): Entry | undefined;
}

/** Looks through a session once. What is appended to it later is not part of the export. */
export function sourceOf(store: SessionStore, options: ExportOptions = {}): Source {
  const mask = tolerant(secretMask(options.secrets ?? []));
  const found = outlineOf(store, options.leafId);
  // Texts that were taken out of entries.
  const outline: Outline = {
    ...found,
    labels: new Map([...found.labels].map(([number, label]) => [number, mask(label) ?? ""])),
    previews: new Map([...found.previews].map(([number, preview]) => [number, mask(preview) ?? ""])),
    firstPrompt: mask(found.firstPrompt),
  };
  const { id, cwd, timestamp, parentSession } = store.header;
  return {
    outline,
    title: mask(nameOf(store.name())) || outline.firstPrompt || `Session ${id}`,
    id,
    cwd: mask(cwd) ?? "",
    created: timestamp,
    parentSession: mask(parentSession),
    warnings: store.warnings,
    maxResult: options.maxResultChars ?? MAX_RESULT_CHARS,
    read(number) {
      const entry = store.entry(found.ids[number] ?? "");
      return entry && mask(entry);
    },
  };
}

/** What is nested too deeply to be searched for secrets is not shown. */
function tolerant(mask: <T>(value: T) => T): <T>(value: T) => T | undefined {
  return (value) => {
    try {
      return mask(value);
    } catch (error) {
      if (error instanceof RangeError) return undefined;
      throw error;
    }
  };
}
