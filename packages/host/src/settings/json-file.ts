import { readFileSync } from "node:fs";
import { ConfigError, errorText } from "./config-error.ts";

/** What a configuration file held: undefined when there is no file or it is blank. */
export type JsonObject = Record<string, unknown>;

/**
 * Reads a configuration file whose top level is an object. Comments and trailing commas are allowed; the parser for
 * them is loaded only for a file that is no plain JSON, since start-up time counts.
 * Throws ConfigError with file:line:column for a text that cannot be understood.
 */
export async function readJsonFile(path: string): Promise<JsonObject | undefined> {
  const text = readText(path);
  if (text === undefined || text.trim() === "") return undefined;
  const value = parsePlain(text) ?? (await parseWithComments(path, text));
  if (!isObject(value)) throw new ConfigError(`${path}:1:1: expected a JSON object { … } at the top level`);
  return value;
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8").replace(/^\uFEFF/, "");
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    throw new ConfigError(`cannot read ${path}: ${errorText(error)}; make it a readable file or remove it`);
  }
}

function parsePlain(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

async function parseWithComments(path: string, text: string): Promise<unknown> {
  const { parse, printParseErrorCode } = await import("jsonc-parser");
  const errors: { error: number; offset: number; length: number }[] = [];
  const value: unknown = parse(text, errors, { allowTrailingComma: true });
  const first = errors[0];
  if (first === undefined) return value;
  const before = text.slice(0, first.offset);
  const line = before.split("\n").length;
  const column = first.offset - before.lastIndexOf("\n");
  const reason = printParseErrorCode(first.error)
    .replace(/([a-z])([A-Z])/g, "$1 $2")
    .toLowerCase();
  throw new ConfigError(`${path}:${line}:${column}: not valid JSON (${reason}); correct this place and start again`);
}
