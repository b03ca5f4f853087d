import { soundMessage } from "./convert.ts";
import type { Run } from "./loop.ts";
import type { AgentMessage } from "./messages.ts";
import { callsOf } from "./repair.ts";
import { soundReply } from "./sound-reply.ts";
import { detach, isRecord } from "./values.ts";

/**
 * What a hook put in the place of a message, as the transcript takes it (law X6).
 * @throws TypeError for what is not a message of the same role
 */
export function replacementOf<T extends AgentMessage>(run: Run, message: T, given: unknown): T {
  const own = withPlace(run, message, soundMessage(detach(given)));
  if (isLike(own, message)) return own;
  throw new TypeError(`A message with the role "${message.role}" can be replaced only by one with the same role.`);
}

const isLike = <T extends AgentMessage>(given: AgentMessage, message: T): given is T => given.role === message.role;

/** A result stays that of its call (C5), and calls that stay keep their ids (C10). */
function withPlace(run: Run, message: AgentMessage, given: AgentMessage): AgentMessage {
  if (message.role === "toolResult" && given.role === "toolResult") {
    const { toolCallId, toolName } = message;
    return { ...given, toolCallId, toolName, isError: given.isError === true, content: blocksOf(given.content) };
  }
  if (message.role !== "assistant" || given.role !== "assistant") return given;
  const kept = new Set(callsOf(message).map(({ id }) => id));
  const blocks = Array.isArray(given.content) ? given.content.filter(isRecord) : [];
  const ids = blocks.flatMap((block, at): [number, string][] =>
    "id" in block && typeof block.id === "string" && kept.delete(block.id) ? [[at, block.id]] : [],
  );
  return soundReply(run, given, new Map(ids));
}

/** JavaScript may give a plain text. */
function blocksOf<Blocks>(content: Blocks | string): Blocks | { type: "text"; text: string }[] {
  return typeof content === "string" ? [{ type: "text", text: content }] : content;
}
