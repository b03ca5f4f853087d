import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import type { Json } from "./session-file.ts";

const NEVER_STARTED = /was never started/;
const PARTLY_RUN = /may have run in part/;
/** A command that a stop ended may not have come to its mark. */
const STOPPED = /abort|cancel|interrupt/i;

/**
 * Every call has exactly one result directly behind its message (law C5), and what the result says of a call that was
 * broken off is true by the mark that the command left (laws C9, F10). Gives how many were broken off.
 */
export function expectClosedCalls(messages: Json[], marks: string): { neverStarted: number; partlyRun: number } {
  const found = { neverStarted: 0, partlyRun: 0 };
  let open = new Map<string, Json>();
  for (const message of messages) {
    if (message.role === "toolResult") {
      const call = open.get(message.toolCallId);
      expect(call, `the result of ${message.toolCallId} has a call directly before it`).toBeDefined();
      open.delete(message.toolCallId);
      const said = JSON.stringify(message.content);
      if (message.isError && NEVER_STARTED.test(said)) found.neverStarted++;
      if (message.isError && PARTLY_RUN.test(said)) found.partlyRun++;
      expectTruth(message, { call, said, marks });
      continue;
    }
    expect([...open.keys()]).toEqual([]);
    if (message.role !== "assistant") continue;
    open = new Map(message.content.flatMap((block: Json) => (block.type === "toolCall" ? [[block.id, block]] : [])));
  }
  expect([...open.keys()]).toEqual([]);
  return found;
}

function expectTruth(message: Json, { call, said, marks }: { call: Json; said: string; marks: string }): void {
  const path = join(marks, message.toolCallId);
  const mark = existsSync(path) ? readFileSync(path, "utf8") : "";
  expect(mark.length, `${message.toolCallId} ran at most once`).toBeLessThanOrEqual(1);
  const marked = call.name === "bash" && call.invalidArguments === undefined;
  if (!marked) return;
  const told = { never: NEVER_STARTED.test(said), partly: PARTLY_RUN.test(said) };
  if (told.never) expect(mark, `${message.toolCallId} is said to have never started`).toBe("");
  else if (!told.partly && !(message.isError && STOPPED.test(said)))
    expect(mark, `${message.toolCallId} has a result of its own`).toBe("x");
}
