import { SessionError } from "../session/session-error.ts";
import type { CommandContext, CommandRows } from "./command-row.ts";
import { flag, images, oneOf, optional, text } from "./fields.ts";

const said = { message: text, images: optional(images) };

/** What is said to the agent, and taking it back. */
export const talkRows: CommandRows<
  "prompt" | "steer" | "follow_up" | "interrupt" | "continue" | "wait" | "abort" | "clear_queue" | "add_message"
> = {
  prompt: {
    describe: "Starts a run with a message.",
    fields: { ...said, streamingBehavior: optional(oneOf("steer", "followUp")) },
    answer: "{disposition}",
    run: (context, { message, ...options }) => context.session.accept(expanded(context, message), options),
  },
  steer: {
    describe: "Queues a message for the next request.",
    fields: said,
    answer: "{disposition}",
    run: (context, { message, images: given }) => context.session.say("steering", expanded(context, message), given),
  },
  follow_up: {
    describe: "Queues a message for when the agent would stop.",
    fields: said,
    answer: "{disposition}",
    run: (context, { message, images: given }) => context.session.say("followUp", expanded(context, message), given),
  },
  interrupt: {
    describe: "Stops reply and tools at once and continues with a message.",
    tauOnly: true,
    fields: said,
    answer: "{disposition}",
    run: (context, { message, images: given }) => context.session.interrupt(expanded(context, message), given),
  },
  continue: {
    describe: "Starts a run without a new message.",
    tauOnly: true,
    fields: {},
    answer: "{disposition}",
    run: ({ session }) => session.continue(),
  },
  wait: {
    describe: "Is answered when nothing runs any more, with how the last run ended.",
    tauOnly: true,
    fields: {},
    answer: "{outcome}",
    async run({ session }) {
      if (session.parts.hub.inListener) throw new SessionError("in_listener");
      await session.runner.quiet();
      return { outcome: session.runner.lastOutcome ?? null };
    },
  },
  abort: {
    describe: "Stops what runs; is answered when it has settled, with what is still queued.",
    fields: {},
    answer: "{steering, followUp}",
    run: ({ session }) => session.abort(),
  },
  clear_queue: {
    describe: "Takes the queued messages out and gives their texts.",
    fields: {},
    answer: "{steering, followUp}",
    run: ({ session }) => session.parts.queues.handBack(),
  },
  add_message: {
    describe: "Puts a note of the program into the conversation; the model reads it with the next prompt.",
    tauOnly: true,
    fields: { customType: text, content: text, display: flag },
    run({ session }, note) {
      session.add({ role: "custom", ...note, timestamp: session.parts.now() });
      return undefined;
    },
  },
};

/** Templates and skills filled in, where the program has some. */
function expanded({ sessions }: CommandContext, message: string): string {
  return sessions ? sessions.current.expand(message) : message;
}
