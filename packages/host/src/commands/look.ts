import type { AgentMessage } from "@tau/agent";
import { describeState, describeStats } from "../session/describe-session.ts";
import { SessionError } from "../session/session-error.ts";
import { type CommandRows, sessionsOf } from "./command-row.ts";
import { entryTree } from "./entry-tree.ts";
import { optional, text } from "./fields.ts";
import { shownLevel } from "./model.ts";

/** What can be read of the session. */
export const lookRows: CommandRows<
  | "get_state"
  | "get_messages"
  | "get_entries"
  | "get_tree"
  | "get_last_assistant_text"
  | "get_session_stats"
  | "get_commands"
> = {
  get_state: {
    describe: "How the session stands.",
    fields: {},
    answer: "see below",
    run: ({ session }) => ({ ...describeState(session.parts, session.runner), thinkingLevel: shownLevel(session) }),
  },
  get_messages: {
    describe: "What the model sees, without prompt and tools.",
    fields: {},
    answer: "{messages}",
    run: ({ session }) => ({ messages: session.parts.link.messages }),
  },
  get_entries: {
    describe: "The entries of the file behind `since`, an entry id: all branches, in file order.",
    fields: { since: optional(text) },
    answer: "{entries, leafId}",
    run({ session }, { since }) {
      const { store } = session.parts.transcript;
      const entries = store.entries();
      const from = since === undefined ? 0 : entries.findIndex(({ id }) => id === since) + 1;
      if (since !== undefined && from === 0) throw new SessionError("unknown_entry", since);
      return { entries: entries.slice(from), leafId: store.leafId };
    },
  },
  get_tree: {
    describe: "The entries as a tree; a node is `{entry, children, label?, labelTimestamp?}`.",
    fields: {},
    answer: "{tree, leafId}",
    run({ session }) {
      const { store } = session.parts.transcript;
      return { tree: entryTree(store), leafId: store.leafId };
    },
  },
  get_last_assistant_text: {
    describe: "The text of the last answer; null when there is none.",
    fields: {},
    answer: "{text}",
    run({ session }) {
      const { messages } = session.parts.link;
      for (let index = messages.length - 1; index >= 0; index--) {
        const said = answerText(messages[index]);
        if (said !== "") return { text: said };
      }
      return { text: null };
    },
  },
  get_session_stats: {
    describe: "Counts, tokens and cost, and how full the context is.",
    fields: {},
    answer: "counts, `tokens`, `cost`, `contextUsage: {tokens, contextWindow, percent}`",
    run: ({ session }) => describeStats(session.parts),
  },
  get_commands: {
    describe: "Templates and skills that a prompt calls by `/name`.",
    fields: {},
    answer: "{commands: [{name, description, source, sourceInfo}]}",
    run: (context) => ({
      commands: sessionsOf(context, "get_commands").current.commands.map(
        ({ name, description, source, path, scope }) => ({
          name,
          description,
          source,
          sourceInfo: { path, source: "local", scope, origin: "top-level" },
        }),
      ),
    }),
  },
};

/** Empty for a message that is not an answer, or that has calls only. */
function answerText(message: AgentMessage | undefined): string {
  if (message?.role !== "assistant") return "";
  return message.content.map((block) => (block.type === "text" ? block.text : "")).join("");
}
