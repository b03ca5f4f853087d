import { flag, optional, text } from "../fields.ts";
import type { RpcMethods } from "../method.ts";

/** Commands of the user himself. */
export const bashMethods: RpcMethods<"bash" | "abort_bash"> = {
  bash: {
    fields: { command: text, excludeFromContext: optional(flag) },
    run: ({ session, outbox, id }, { command, excludeFromContext = false }) =>
      session.runUserCommand(command, {
        excludeFromContext,
        onOutput: (delta) => outbox.write({ type: "bash_execution_update", ...(id !== undefined && { id }), delta }),
      }),
  },
  abort_bash: {
    fields: {},
    async run({ session }) {
      await session.abortUserCommands();
      return undefined;
    },
  },
};
