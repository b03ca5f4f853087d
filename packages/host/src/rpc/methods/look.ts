import type { AgentMessage } from "@tau/agent";
import { optional, text } from "../fields.ts";
import type { RpcMethods } from "../method.ts";
import { treeJson } from "../tree-json.ts";
import { shownLevel } from "./model.ts";

/** What a client can read of the session. */
export const lookMethods: RpcMethods<
  | "get_state"
  | "get_messages"
  | "get_entries"
  | "get_tree"
  | "get_last_assistant_text"
  | "get_session_stats"
  | "get_commands"
> = {
  get_state: {
    fields: {},
    run({ session }) {
      const { queued: _queued, recording: _recording, openQuestions, ...state } = session.state;
      const questions = openQuestions.map((question) => ({ ...question }));
      return { ...state, thinkingLevel: shownLevel(session), openQuestions: questions };
    },
  },
  get_messages: {
    fields: {},
    run: ({ session }) => ({ messages: session.messages }),
  },
  get_entries: {
    fields: { since: optional(text) },
    run({ sessions }, { since }) {
      const { store } = sessions.current;
      const entries = store.entries();
      const from = since === undefined ? 0 : entries.findIndex(({ id }) => id === since) + 1;
      if (since !== undefined && from === 0) throw new Error(`there is no entry ${since} in this session`);
      return { entries: entries.slice(from), leafId: store.leafId };
    },
  },
  get_tree: {
    fields: {},
    run: ({ sessions }) => treeJson(sessions.current.store),
  },
  get_last_assistant_text: {
    fields: {},
    run({ session }) {
      const { messages } = session;
      for (let index = messages.length - 1; index >= 0; index--) {
        const said = answerText(messages[index]);
        if (said !== "") return { text: said };
      }
      return { text: null };
    },
  },
  get_session_stats: {
    fields: {},
    run: ({ session }) => session.stats(),
  },
  get_commands: {
    fields: {},
    run: ({ sessions }) => ({
      commands: sessions.current.commands.map(({ name, description, source, path, scope }) => ({
        name,
        description,
        source,
        sourceInfo: { path, source: "local", scope, origin: "top-level" },
      })),
    }),
  },
};

/** Empty for a message that is no answer, or that has calls only. */
function answerText(message: AgentMessage | undefined): string {
  if (message?.role !== "assistant") return "";
  return message.content.map((block) => (block.type === "text" ? block.text : "")).join("");
}
