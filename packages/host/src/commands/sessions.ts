import { goTo, type Leaving, leavingOf } from "../session/context/navigation.ts";
import { SessionError } from "../session/session-error.ts";
import { userText } from "../store/navigate.ts";
import { type CommandRows, servicesOf, sessionsOf } from "./command-row.ts";
import { flag, optional, text } from "./fields.ts";

const REPLACED = { cancelled: false };

/** Moves to another session: what runs in this one is aborted and settled first (report R159). */
export const sessionRows: CommandRows<
  "new_session" | "switch_session" | "get_fork_messages" | "fork" | "clone" | "navigate" | "export_html"
> = {
  new_session: {
    describe: "Begins a new session in the same folder.",
    fields: { parentSession: optional(text) },
    answer: "{cancelled: false}",
    replaces: true,
    async run(context, { parentSession }) {
      await sessionsOf(context, "new_session").newSession(parentSession);
      return REPLACED;
    },
  },
  switch_session: {
    describe: "Continues the session of a file.",
    fields: { sessionPath: text },
    answer: "{cancelled: false}",
    replaces: true,
    async run(context, { sessionPath }) {
      await sessionsOf(context, "switch_session").switchTo(sessionPath);
      return REPLACED;
    },
  },
  get_fork_messages: {
    describe: "The user messages that `fork` takes, of all branches, in file order.",
    fields: {},
    answer: "{messages: [{entryId, text}]}",
    run({ session }) {
      const messages = session.parts.transcript.store.entries().flatMap((entry) => {
        const said = userText(entry);
        return said === undefined ? [] : [{ entryId: entry.id, text: said }];
      });
      return { messages };
    },
  },
  fork: {
    describe: "Continues in a copy that ends before a user message.",
    fields: { entryId: text },
    answer: "{text, cancelled: false}",
    replaces: true,
    run: async (context, { entryId }) => ({ text: await sessionsOf(context, "fork").fork(entryId), ...REPLACED }),
  },
  clone: {
    describe: "Continues in a copy of the current branch.",
    fields: {},
    answer: "{cancelled: false}",
    replaces: true,
    async run(context) {
      await sessionsOf(context, "clone").clone();
      return REPLACED;
    },
  },
  navigate: {
    describe: "Goes to another point of the tree of this session.",
    tauOnly: true,
    fields: { entryId: text, summarize: optional(flag), customInstructions: optional(text), summary: optional(text) },
    answer: "{leafId, editorText?}",
    async run({ session }, { entryId, summary, ...asked }) {
      session.checkOpen();
      const { parts, runner } = session;
      const left: Leaving | undefined = summary === undefined ? leavingOf(asked) : { summary };
      const findModel = (provider: string, modelId: string) => session.findModel(provider, modelId);
      return goTo({ parts, runner, findModel }, entryId, left);
    },
  },
  export_html: {
    describe: "Writes the session as a page.",
    fields: { outputPath: optional(text) },
    answer: "{path}",
    async run(context, { outputPath }) {
      const { exportHtml } = servicesOf(context, "export_html");
      if (!exportHtml) throw new SessionError("unavailable", "export_html");
      return { path: await exportHtml(context.session.parts.transcript.store, outputPath) };
    },
  },
};
