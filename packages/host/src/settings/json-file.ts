import { readFileSync, statSync } from "node:fs";
import { reasonOf } from "../platform/thrown.ts";
import { ConfigError, configError } from "./config-error.ts";

/** What a configuration file held: undefined when there is no file or it is empty. */
export type JsonObject = Record<string, unknown>;

/**
 * Reads a configuration file whose top level is an object. Comments and trailing commas are allowed; the parser for
 * them is loaded only for a file that is not plain JSON, since start-up time counts.
 * Throws ConfigError with file:line:column for a text that cannot be understood, and for what is not a file of settings:
 * a pipe or device, which may never end, a file of many megabytes, values in values without end.
 */
export async function readJsonFile(path: string): Promise<JsonObject | undefined> {
  const text = readText(path);
  if (text === undefined || text.trim() === "") return undefined;
  const value = parsePlain(text) ?? (await parseWithComments(path, text));
  if (!isObject(value)) throw configError("json_not_object", { path });
  if (isDeeper(value, MAX_DEPTH)) throw tooDeep(path);
  return value;
}

// Far above what any of the files needs, and far below what reading would take long for.
const MAX_BYTES = 8 * 1024 * 1024;
const MAX_DEPTH = 100;

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  return levels === 0 || Object.values(value).some((member) => isDeeper(member, levels - 1));
}

function tooDeep(path: string): ConfigError {
  return configError("json_too_deep", { path, levels: MAX_DEPTH });
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function readText(path: string): string | undefined {
  try {
    checkKind(path);
    return readFileSync(path, "utf8").replace(/^\uFEFF/, "");
  } catch (error) {
    if (error instanceof ConfigError) throw error;
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    const reason = reasonOf(error);
    throw configError("file_unreadable", { path, reason });
  }
}

function checkKind(path: string): void {
  const stat = statSync(path);
  // Reading a folder fails by itself and says so.
  if (!stat.isFile() && !stat.isDirectory()) throw configError("file_not_regular", { path });
  if (stat.size > MAX_BYTES) throw configError("file_too_large", { path, maxBytes: MAX_BYTES });
}

function parsePlain(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

async function parseWithComments(path: string, text: string): Promise<unknown> {
  const { parse, printParseErrorCode } = await import("#jsonc-parser");
  const errors: { error: number; offset: number; length: number }[] = [];
  let value: unknown;
  try {
    value = parse(text, errors, { allowTrailingComma: true });
  } catch (error) {
    // It calls itself for each level.
    if (error instanceof RangeError) throw tooDeep(path);
    throw error;
  }
  const first = errors[0];
  if (first === undefined) return value;
  const before = text.slice(0, first.offset);
  const line = before.split("\n").length;
  const column = first.offset - before.lastIndexOf("\n");
  const reason = printParseErrorCode(first.error)
    .replace(/([a-z])([A-Z])/g, "$1 $2")
    .toLowerCase();
  throw configError("json_invalid", { path, line, column, reason });
}
