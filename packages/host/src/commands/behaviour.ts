import { describeStats } from "../session/describe-session.ts";
import { SessionError } from "../session/session-error.ts";
import { renameSession } from "../store/navigate.ts";
import type { CommandRows } from "./command-row.ts";
import { flag, oneOf, optional, text } from "./fields.ts";

const modes = { mode: oneOf("all", "one-at-a-time") };

/** How the session behaves by itself, and compaction. */
export const behaviourRows: CommandRows<
  | "set_steering_mode"
  | "set_follow_up_mode"
  | "set_auto_compaction"
  | "set_auto_retry"
  | "abort_retry"
  | "compact"
  | "set_session_name"
> = {
  set_steering_mode: {
    describe: "How many steering messages a request takes along.",
    fields: modes,
    run({ session }, { mode }) {
      session.parts.link.agent.steeringMode = mode;
      return undefined;
    },
  },
  set_follow_up_mode: {
    describe: "How many follow-ups are taken when the agent would stop.",
    fields: modes,
    run({ session }, { mode }) {
      session.parts.link.agent.followUpMode = mode;
      return undefined;
    },
  },
  set_auto_compaction: {
    describe: "Whether the session compacts by itself when the context is nearly full.",
    fields: { enabled: flag },
    run({ session }, { enabled }) {
      session.parts.compaction.enabled = enabled;
      return undefined;
    },
  },
  set_auto_retry: {
    describe: "Whether a request that failed for a passing reason is made again.",
    fields: { enabled: flag },
    run({ session }, { enabled }) {
      session.parts.retries.enabled = enabled;
      return undefined;
    },
  },
  abort_retry: {
    describe: "Ends the wait for a retry; the run ends with the error.",
    fields: {},
    answer: "{aborted}",
    run: ({ session }) => ({ aborted: session.parts.retries.giveUp(session.runner.active) }),
  },
  compact: {
    describe: "Replaces the older part of the context by a summary; a run is aborted first.",
    fields: { customInstructions: optional(text) },
    answer: "{summary, firstKeptEntryId, tokensBefore, estimatedTokensAfter, usage?, details?}",
    async run({ session }, { customInstructions }) {
      session.checkOpen();
      const result = await session.runner.compact(customInstructions);
      return { estimatedTokensAfter: describeStats(session.parts).contextUsage.tokens, ...result };
    },
  },
  set_session_name: {
    describe: "Names the session.",
    fields: { name: text },
    run({ session }, { name }) {
      session.checkOpen();
      if (name.trim() === "") throw new SessionError("empty_name");
      const { parts } = session;
      const { store } = parts.transcript;
      renameSession(store, name);
      const now = store.name();
      parts.tell({ type: "session_info_changed", ...(now !== undefined && { name: now }) });
      return undefined;
    },
  },
};
