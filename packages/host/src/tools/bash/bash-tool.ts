import type { ToolDefinition, ToolEnvironment } from "../definition.ts";
import type { ArgsOf } from "../schema.ts";
import type { BashDetails } from "./bash-result.ts";
import { bashFacts } from "./facts.ts";

/**
 * `bash {command, timeout?}`: runs a command in a shell of its own, without stdin and terminal (FIELD-REPORTS 4). Each call
 * starts in the session's directory; `cd` does not last, whatever the exit code (R083).
 */
export function createBashTool(environment: ToolEnvironment): ToolDefinition {
  const { bashTimeoutSeconds } = environment.settings;
  const parameters = {
    type: "object",
    properties: {
      command: { type: "string" },
      timeout: { type: "number", description: `Seconds, default ${bashTimeoutSeconds || "none"}` },
    },
    required: ["command"],
  } as const;
  const tool: ToolDefinition<ArgsOf<typeof parameters>, BashDetails | undefined> = {
    ...bashFacts,
    label: "Shell",
    description:
      "Run a bash command. Each call starts in the working directory: cd does not last. No stdin, no terminal. " +
      "Long output is cut in the middle, the whole is kept in a file.",
    parameters,
    // A batch with a command runs in the order of its calls, as models expect of `mkdir`, write, `cat` (R062).
    executionMode: "sequential",
    async execute(_toolCallId, args, signal, onUpdate) {
      const { runBash } = await import("./run-bash.ts");
      return runBash({ environment, ...args, signal, onUpdate });
    },
  };
  return tool;
}
