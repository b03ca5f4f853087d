import { flag, oneOf, optional, text } from "../fields.ts";
import type { RpcMethods } from "../method.ts";

const modes = { mode: oneOf("all", "one-at-a-time") };

/** How the session behaves by itself, and compaction. */
export const settingMethods: RpcMethods<
  | "set_steering_mode"
  | "set_follow_up_mode"
  | "set_auto_retry"
  | "abort_retry"
  | "set_auto_compaction"
  | "compact"
  | "set_session_name"
> = {
  set_steering_mode: {
    fields: modes,
    run: ({ session }, { mode }) => void session.setQueueMode("steering", mode),
  },
  set_follow_up_mode: {
    fields: modes,
    run: ({ session }, { mode }) => void session.setQueueMode("followUp", mode),
  },
  set_auto_retry: {
    fields: { enabled: flag },
    run: ({ session }, { enabled }) => void session.setAutoRetry(enabled),
  },
  abort_retry: {
    fields: {},
    run: ({ session }) => void session.abortRetry(),
  },
  set_auto_compaction: {
    fields: { enabled: flag },
    run: ({ session }, { enabled }) => void session.setAutoCompaction(enabled),
  },
  compact: {
    fields: { customInstructions: optional(text) },
    async run({ session }, { customInstructions }) {
      const result = await session.compact(customInstructions);
      return { estimatedTokensAfter: session.stats().contextUsage.tokens, ...result };
    },
  },
  set_session_name: {
    fields: { name: text },
    run: ({ session }, { name }) => void session.setName(name),
  },
};
