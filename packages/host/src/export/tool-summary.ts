import { isJsonObject } from "../store/parse-line.ts";
import { lineOf, shortLine } from "./entry-text.ts";

const SUMMARY_CHARS = 160;

/** The argument that says what a call is about. */
const MAIN_ARGUMENT: Readonly<Record<string, string>> = {
  bash: "command",
  read: "path",
  write: "path",
  edit: "path",
  grep: "pattern",
  find: "pattern",
  ls: "path",
};

/** One line that tells a call from others of the same tool; empty when nothing does. */
export function callSummary(name: string, args: Readonly<Record<string, unknown>>): string {
  const key = Object.hasOwn(MAIN_ARGUMENT, name) ? MAIN_ARGUMENT[name] : undefined;
  const main = key === undefined ? undefined : args[key];
  const text = typeof main === "string" ? main : Object.values(args).find((value) => typeof value === "string");
  return typeof text === "string" ? shortLine(lineOf(text.slice(0, SUMMARY_CHARS * 4)), SUMMARY_CHARS) : "";
}

/** The diff that a tool reported, if it did: the unified one where there are two. */
export function diffOf(details: unknown): string | undefined {
  if (!isJsonObject(details)) return undefined;
  return [details.patch, details.diff].find((text) => typeof text === "string" && text !== "")?.toString();
}

/** The diff that an edit or a write asked for, for a call without a reported one. */
export function askedDiff(name: string, args: Readonly<Record<string, unknown>>): string | undefined {
  if (name === "write" && typeof args.content === "string") return signed(args.content, "+");
  if (name !== "edit") return undefined;
  const edits = Array.isArray(args.edits) ? args.edits : [args];
  const parts = edits.flatMap((edit: unknown) => {
    if (!isJsonObject(edit)) return [];
    const { oldText, newText } = edit;
    return typeof oldText === "string" && typeof newText === "string"
      ? [`${signed(oldText, "-")}\n${signed(newText, "+")}`]
      : [];
  });
  return parts.length > 0 ? parts.join("\n@@\n") : undefined;
}

function signed(text: string, sign: "+" | "-"): string {
  return text
    .replace(/\n$/, "")
    .split("\n")
    .map((line) => sign + line)
    .join("\n");
}

/** What a result says about its run besides the text. */
export interface RunFacts {
  exitCode?: number;
  durationMs?: number;
}

export function factsOf(details: unknown): RunFacts {
  if (!isJsonObject(details)) return {};
  const { exitCode, durationMs } = details;
  return {
    ...(typeof exitCode === "number" && { exitCode }),
    ...(typeof durationMs === "number" && durationMs >= 0 && { durationMs }),
  };
}
