import type { HookRow } from "../hooks/points.ts";
import { kindOf } from "../platform/home.ts";
import type { NestedContext } from "../prompt/nested-context.ts";
import type { RunEnding } from "../session/run/outcome.ts";
import type { ToolRegistry } from "../tools/registry.ts";

/** Adds the instructions of a folder to the result of a call, when the model first works on a file there. */
export function nestedContextRow(nested: NestedContext, tools: ToolRegistry): HookRow<RunEnding> {
  return {
    name: "context files of folders",
    stage: "host",
    point: "afterTool",
    run({ toolCall, args, result, isError }) {
      if (isError) return undefined;
      const { reads = [], writes = [] } = tools.get(toolCall.name)?.touches?.(args) ?? {};
      const files = [...new Set([...reads, ...writes])].filter((path) => kindOf(path) !== "folder");
      const texts = files.map((path) => nested.textFor(path)).filter((text) => text !== undefined);
      if (texts.length === 0) return undefined;
      return { content: [...result.content, ...texts.map((text) => ({ type: "text" as const, text }))] };
    },
  };
}
