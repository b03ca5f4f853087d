import { images, oneOf, optional, text } from "../fields.ts";
import type { RpcMethods } from "../method.ts";

const said = { message: text, images: optional(images) };

/** What is said to the agent, and taking it back. */
export const talkMethods: RpcMethods<
  "prompt" | "continue" | "steer" | "follow_up" | "interrupt" | "abort" | "clear_queue"
> = {
  prompt: {
    fields: { ...said, streamingBehavior: optional(oneOf("steer", "followUp")) },
    run: ({ session, sessions }, { message, ...options }) => session.accept(sessions.current.expand(message), options),
  },
  continue: {
    fields: {},
    run: ({ session }) => session.acceptContinue(),
  },
  steer: {
    fields: said,
    run: ({ session, sessions }, { message, images: given }) => session.steer(sessions.current.expand(message), given),
  },
  follow_up: {
    fields: said,
    run: ({ session, sessions }, { message, images: given }) =>
      session.followUp(sessions.current.expand(message), given),
  },
  interrupt: {
    fields: said,
    run: ({ session, sessions }, { message, images: given }) =>
      session.interrupt(sessions.current.expand(message), given),
  },
  abort: {
    fields: {},
    run: ({ session }) => session.abort(),
  },
  clear_queue: {
    fields: {},
    run: ({ session }) => session.takeQueued(),
  },
};
