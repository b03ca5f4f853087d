import type { Context, SystemMessage, Tool } from "@tau/llm";
import { declaration, EMPTY_HEAD, foldHead, promptText } from "@tau/llm/head";

interface Lifted {
  readonly systemPrompt?: string;
  readonly tools?: Tool[];
}

// The head of a session is lifted once, not for every request.
const lifted = new WeakMap<SystemMessage, Lifted>();

/**
 * A context that begins with its only system message, with that message as `systemPrompt` and `tools`: the plain form
 * that every `streamFn` knows. Later changes of the head need the messages themselves, so then it stays as it is.
 */
export function liftHead(context: Context): Context {
  const first = context.messages[0];
  if (first?.role !== "system") return context;
  const messages = context.messages.slice(1);
  if (messages.some(({ role }) => role === "system")) return context;
  return { ...context, ...liftedOf(first), messages };
}

function liftedOf(message: SystemMessage): Lifted {
  const known = lifted.get(message);
  if (known) return known;
  const head = foldHead(EMPTY_HEAD, message);
  const systemPrompt = promptText(head);
  const made: Lifted = {
    ...(systemPrompt !== "" && { systemPrompt }),
    ...(head.tools.size > 0 && { tools: [...head.tools.values()].map(declaration) }),
  };
  lifted.set(message, made);
  return made;
}
