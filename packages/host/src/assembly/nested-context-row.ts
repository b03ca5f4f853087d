import { resolve } from "node:path";
import type { HookRow } from "../hooks/points.ts";
import { expandTilde } from "../platform/environment.ts";
import { kindOf } from "../platform/home.ts";
import type { NestedContext } from "../prompt/nested-context.ts";
import type { RunEnding } from "../session/run/outcome.ts";
import { touchedPaths } from "../tools/call-facts.ts";
import type { ToolRegistry } from "../tools/registry.ts";

interface NestedContextParts {
  readonly nested: NestedContext;
  readonly tools: ToolRegistry;
  /** What relative paths and `~` of a call mean. */
  readonly cwd: string;
  readonly homeDir: string;
}

/** Adds the instructions of a folder to the result of a call, when the model first works on a file there. */
export function nestedContextRow({ nested, tools, cwd, homeDir }: NestedContextParts): HookRow<RunEnding> {
  const absolute = (path: string) => resolve(cwd, expandTilde(path, homeDir));
  return {
    name: "context files of folders",
    stage: "host",
    point: "afterTool",
    run({ toolCall, args, result, isError }) {
      if (isError) return undefined;
      const { reads, writes, searches } = touchedPaths({ name: toolCall.name, args }, (name) => tools.get(name));
      const paths = new Set([...reads, ...writes, ...searches].map(absolute));
      const files = [...paths].filter((path) => kindOf(path) !== "folder");
      const texts = files.map((path) => nested.textFor(path)).filter((text) => text !== undefined);
      if (texts.length === 0) return undefined;
      return { content: [...result.content, ...texts.map((text) => ({ type: "text" as const, text }))] };
    },
  };
}
