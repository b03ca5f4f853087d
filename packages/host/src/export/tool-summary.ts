import { isJsonObject } from "../store/parse-line.ts";
import { callSummary, type NamedCall } from "../tools/call-facts.ts";
import { shortLine } from "./entry-text.ts";

const SUMMARY_CHARS = 160;

/** One line that tells a call from others of the same tool; empty when nothing does. */
export function callLine(call: NamedCall): string {
  return shortLine(callSummary(call), SUMMARY_CHARS);
}

/** The diff that a tool reported, if it did: the unified one where there are two. */
export function diffOf(details: unknown): string | undefined {
  if (!isJsonObject(details)) return undefined;
  return [details.patch, details.diff].find((text) => typeof text === "string" && text !== "")?.toString();
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
