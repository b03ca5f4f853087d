import type { AssistantMessageEventStream } from "../protocol/events.ts";
import type { Context, StreamFn } from "../protocol/request.ts";
import { playReply } from "./play.ts";
import { failure, type ScriptReply } from "./reply.ts";

const message = (error: unknown) => (error instanceof Error ? error.message : String(error));

/**
 * The provider of api `scripted`: answers from a script instead of a model. `model.baseUrl` is the file URL of a
 * script file (see `readScript`); without one the built-in demo plays.
 */
export const streamScripted: StreamFn = async (model, context, options): Promise<AssistantMessageEventStream> => {
  const step = context.messages.filter((entry) => entry.role === "assistant").length;
  const reply = await chooseReply(model.baseUrl, context, step).catch(
    (error: unknown): ScriptReply => failure(message(error), "invalid_request"),
  );
  return playReply(reply, { model, step, timestamp: Date.now() }, options.signal);
};

async function chooseReply(baseUrl: string, context: Context, step: number): Promise<ScriptReply> {
  if (baseUrl === "") {
    const { demoReply } = await import("./demo.ts");
    return demoReply(context);
  }
  const { nextReply } = await import("./script-file.ts");
  return nextReply(baseUrl, step);
}
