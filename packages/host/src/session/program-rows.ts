import type { AfterToolCallContext } from "@tau/agent";
import type { FinishedCall, HookRow } from "../hooks/points.ts";
import type { SessionAgentHooks } from "./options.ts";
import type { RunEnding } from "./run/outcome.ts";

/** The hooks that a program gives to its session, as rows of the bus. */
export function programRows(hooks: SessionAgentHooks): HookRow<RunEnding>[] {
  const { transformContext, afterToolCall, beforeSettle } = hooks;
  const rows: HookRow<RunEnding>[] = [];
  const own = { name: "the program", stage: "program" } as const;
  if (transformContext) {
    rows.push({ ...own, point: "context", run: (messages, signal) => hooks.transformContext?.(messages, signal) });
  }
  if (afterToolCall) {
    const run = (call: FinishedCall, signal: AbortSignal) =>
      isInSession(call) ? hooks.afterToolCall?.(call, signal) : undefined;
    rows.push({ ...own, point: "afterTool", run });
  }
  if (beforeSettle) rows.push({ ...own, point: "beforeSettle", run: (ending) => hooks.beforeSettle?.(ending) });
  return rows;
}

function isInSession(call: FinishedCall): call is AfterToolCallContext {
  return call.assistantMessage !== undefined && call.context !== undefined;
}
