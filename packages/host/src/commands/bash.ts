import type { CommandRows } from "./command-row.ts";
import { flag, optional, text } from "./fields.ts";

/** Shell commands of the user's own. */
export const bashRows: CommandRows<"bash" | "abort_bash"> = {
  bash: {
    describe: "Runs a shell command for the user, also during a run.",
    fields: { command: text, excludeFromContext: optional(flag) },
    answer: "{output, exitCode?, cancelled, truncated, fullOutputPath?}",
    async run({ session, id }, { command, excludeFromContext = false }) {
      session.checkOpen();
      const { userCommands, emit } = session.parts;
      const source = id === undefined ? {} : { id };
      return userCommands.run(command, {
        excludeFromContext,
        onOutput: (delta) => emit({ type: "bash_execution_update", ...source, delta }),
      });
    },
  },
  abort_bash: {
    describe: "Ends the user's shell commands.",
    fields: {},
    async run({ session }) {
      await session.parts.userCommands.abort();
      return undefined;
    },
  },
};
