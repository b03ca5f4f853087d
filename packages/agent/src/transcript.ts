import { callsOf } from "./calls.ts";
import { soundMessage } from "./convert.ts";
import { CUT } from "./cutoff.ts";
import type { AgentMessage } from "./messages.ts";
import type { Incoming } from "./queue.ts";
import type { RunContext } from "./run-context.ts";
import { soundReply } from "./sound-reply.ts";
import { attempt, detach, errorText, isRecord } from "./values.ts";

/**
 * Puts a message into the transcript; gives the one that stands there (X6).
 * @param shown its start was shown already
 */
export async function append<T extends AgentMessage>(run: RunContext, item: Incoming<T>, shown = false): Promise<T> {
  const from = item.id === undefined ? {} : { queueId: item.id };
  if (!shown) await run.emit({ type: "message_start", message: item.message, ...from });
  const message = run.config.beforeMessageEnd ? await replaced(run, item.message) : item.message;
  run.queues.underway.delete(item);
  run.context.messages.push(message);
  run.added.push(message);
  run.told.tell(message);
  await run.emit({ type: "message_end", message, ...from });
  return message;
}

async function replaced<T extends AgentMessage>(run: RunContext, message: T): Promise<T> {
  const { cutoff, config } = run;
  try {
    const given = await cutoff.race(() => config.beforeMessageEnd?.(detach(message), cutoff.signal), "grace");
    return given === CUT || given === undefined ? message : replacementOf(run, message, given);
  } catch (error) {
    await run.emit({ type: "listener_error", event: "message_end", error: errorText(error) });
    return message;
  }
}

/**
 * What a hook put in the place of a message, as the transcript takes it (law X6).
 * @throws TypeError for what is not a message of the same role
 */
function replacementOf<T extends AgentMessage>(run: RunContext, message: T, given: unknown): T {
  const own = withPlace(run, message, soundMessage(detach(given)));
  if (isLike(own, message)) return own;
  throw new TypeError(`A message with the role "${message.role}" can be replaced only by one with the same role.`);
}

const isLike = <T extends AgentMessage>(given: AgentMessage, message: T): given is T => given.role === message.role;

/** A result stays that of its call (C5), and calls that stay keep their ids (C10). */
function withPlace(run: RunContext, message: AgentMessage, given: AgentMessage): AgentMessage {
  if (message.role === "toolResult" && given.role === "toolResult") {
    const { toolCallId, toolName } = message;
    // JavaScript may give a plain text.
    const content =
      typeof given.content === "string" ? [{ type: "text" as const, text: given.content }] : given.content;
    return { ...given, toolCallId, toolName, content, isError: given.isError === true };
  }
  if (message.role !== "assistant" || given.role !== "assistant") return given;
  const kept = new Set(callsOf(message).map(({ id }) => id));
  const blocks = Array.isArray(given.content) ? given.content.filter(isRecord) : [];
  const ids = blocks.flatMap((block, at): [number, string][] =>
    "id" in block && typeof block.id === "string" && kept.delete(block.id) ? [[at, block.id]] : [],
  );
  return soundReply(run, given, new Map(ids));
}

/** Puts something into the transcript that the user, and later the model, should know about the run. */
export async function notice(run: RunContext, content: string): Promise<void> {
  const shown = { customType: "tau.notice", content, display: true };
  await append(run, { message: { role: "custom", ...shown, timestamp: run.now() } });
}

/** Steering first, then follow-ups (Q3). */
export async function pollQueues(run: RunContext): Promise<readonly Incoming[]> {
  const steering = await poll(run, "steering");
  return steering.length > 0 ? steering : poll(run, "follow_up");
}

export async function poll(run: RunContext, from: "steering" | "follow_up"): Promise<readonly Incoming[]> {
  const { queues, cutoff } = run;
  // What comes after the run has moved on must not be lost (Q4).
  const late = (taken: readonly Incoming[]) => queues.giveBack?.(taken, from);
  const polled = await cutoff.race(() => queues.take(from), "abort", late);
  const taken = polled === CUT ? [] : polled;
  for (const item of taken) queues.underway.set(item, from);
  return taken;
}

/** Puts messages into the transcript. After an abort queued ones go back instead (Q4, Q5). */
export async function enter(run: RunContext, incoming: readonly Incoming[]): Promise<void> {
  const { underway, giveBack } = run.queues;
  const goesBack = (item: Incoming) => run.cutoff.signal.aborted && giveBack && underway.has(item);
  for (const item of incoming) if (!goesBack(item)) await append(run, item);
  returnUnderway(run);
}

/** With no way back what is underway stays so, and enters the transcript at the end. */
export function returnUnderway({ queues }: RunContext): void {
  const { underway } = queues;
  if (!queues.giveBack) return;
  for (const [item, from] of [...underway].reverse()) attempt(() => queues.giveBack?.([item], from));
  underway.clear();
}
