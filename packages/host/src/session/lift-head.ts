import type { Context } from "@tau/llm";
import { declaration, EMPTY_HEAD, foldHead, promptText } from "./head.ts";

/**
 * A context whose only system message is its first one, with that message as `systemPrompt` and `tools`: the plain
 * form that every `streamFn` knows. Later changes of the head need the messages themselves, so then it stays as it is.
 */
export function liftHead(context: Context): Context {
  const [first, ...messages] = context.messages;
  if (first?.role !== "system" || messages.some(({ role }) => role === "system")) return context;
  const head = foldHead(EMPTY_HEAD, first);
  const systemPrompt = promptText(head);
  return {
    ...context,
    ...(systemPrompt !== "" && { systemPrompt }),
    ...(head.tools.length > 0 && { tools: head.tools.map(declaration) }),
    messages,
  };
}
