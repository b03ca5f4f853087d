import { leavingOf } from "../../session/context/navigation.ts";
import { userText } from "../../store/navigate.ts";
import { flag, optional, text } from "../fields.ts";
import type { RpcMethods } from "../method.ts";

const REPLACED = { cancelled: false };

/** Going over to another session: what runs in this one is aborted and settled first (report R159). */
export const sessionMethods: RpcMethods<
  "new_session" | "switch_session" | "fork" | "clone" | "navigate" | "get_fork_messages" | "export_html"
> = {
  new_session: {
    fields: { parentSession: optional(text) },
    replaces: true,
    async run({ sessions }, { parentSession }) {
      await sessions.newSession(parentSession);
      return REPLACED;
    },
  },
  switch_session: {
    fields: { sessionPath: text },
    replaces: true,
    async run({ sessions }, { sessionPath }) {
      await sessions.switchTo(sessionPath);
      return REPLACED;
    },
  },
  fork: {
    fields: { entryId: text },
    replaces: true,
    run: async ({ sessions }, { entryId }) => ({ text: await sessions.fork(entryId), ...REPLACED }),
  },
  clone: {
    fields: {},
    replaces: true,
    async run({ sessions }) {
      await sessions.clone();
      return REPLACED;
    },
  },
  navigate: {
    fields: { entryId: text, summarize: optional(flag), customInstructions: optional(text) },
    run: ({ session }, { entryId, ...left }) => session.navigate(entryId, leavingOf(left)),
  },
  get_fork_messages: {
    fields: {},
    run({ sessions }) {
      const messages = sessions.current.store.branch().flatMap((entry) => {
        const said = userText(entry);
        return said === undefined ? [] : [{ entryId: entry.id, text: said }];
      });
      return { messages };
    },
  },
  export_html: {
    fields: { outputPath: optional(text) },
    async run({ services, sessions }, { outputPath }) {
      if (!services.exportHtml) throw new Error("export is not available in this version");
      return { path: await services.exportHtml(sessions.current.store, outputPath) };
    },
  },
};
