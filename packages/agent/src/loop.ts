import type { AssistantMessage, StreamFn } from "@tau/llm";
import { callsOf } from "./calls.ts";
import type { AgentContext, AgentLoopConfig, Emit, RunInput } from "./config.ts";
import { Course, DONE, type End, type Step, type TurnEnd } from "./course.ts";
import { CUT } from "./cutoff.ts";
import type { LimitName } from "./events.ts";
import type { AgentMessage } from "./messages.ts";
import { ReplyReader } from "./model-reply.ts";
import { openStream } from "./model-request.ts";
import { type Incoming, incomingOf } from "./queue.ts";
import { RunContext } from "./run-context.ts";
import { ABORTED, failure, soundReply } from "./sound-reply.ts";
import { tick } from "./tick.ts";
import { openResults, runBatch } from "./tool-batch.ts";
import { append, enter, notice, poll, pollQueues, returnUnderway } from "./transcript.ts";
import type { Awaitable } from "./values.ts";

const LIMIT_TEXTS: Record<LimitName, string> = {
  maxTurns: "the largest number of turns is reached",
  maxConsecutiveLengthStops: "the replies were cut off at the output limit again and again",
  maxIdenticalCalls: "the same call gave the same result again and again",
  maxCallsPerMessage: "one message had more tool calls than are allowed",
};
let defaultStreamFn: StreamFn | undefined;

/** Installs the `streamFn` of all runs that are given none. */
export function setDefaultStreamFn(streamFn: StreamFn | undefined): void {
  defaultStreamFn = streamFn;
}

/**
 * Runs the agent from new messages until it stops (laws R, T). Resolves with all messages of the run, also when the
 * model, a tool or a hook fails: messages and events say so. `emit` is awaited for each event, one at a time. Without a
 * `streamFn` the installed one is asked.
 * @throws Error when there are no prompts or no `streamFn`, TypeError for a prompt that is not a message
 */
export async function runAgentLoop(
  prompts: (AgentMessage | Incoming)[],
  context: AgentContext,
  config: AgentLoopConfig,
  emit: Emit,
  signal?: AbortSignal,
  streamFn = defaultStreamFn,
): Promise<AgentMessage[]> {
  if (prompts.length === 0) throw new Error("A run needs at least one message; `continue` needs none.");
  const begin = ({ now }: RunContext) => ({ incoming: prompts.map((prompt) => incomingOf(prompt, now)), poll: true });
  return conduct({ context, config, emit, signal, streamFn }, begin);
}

/**
 * Continues from the transcript without a new message.
 * @throws Error when the transcript is empty, or ends with a complete answer and no queue has a message
 */
export async function runAgentLoopContinue(
  context: AgentContext,
  config: AgentLoopConfig,
  emit: Emit,
  signal?: AbortSignal,
  streamFn = defaultStreamFn,
): Promise<AgentMessage[]> {
  return conduct({ context, config, emit, signal, streamFn }, firstOfContinued);
}

async function firstOfContinued(run: RunContext): Promise<Step> {
  // A change of the prompt behind an answer asks for no further one.
  const last = run.context.messages.findLast(({ role }) => role !== "system");
  if (last && (last.role !== "assistant" || callsOf(last).length > 0)) return { incoming: [], poll: true };
  const incoming = last ? await pollQueues(run) : [];
  if (incoming.length > 0) return { incoming };
  throw new Error(`There is nothing to continue: ${last ? "no message is queued" : "the transcript is empty"}.`);
}

/** From first to last: one start, one end, whatever happens between (law T4). */
async function conduct(input: RunInput, begin: (run: RunContext) => Awaitable<Step>): Promise<AgentMessage[]> {
  const run = new RunContext(input);
  try {
    const first = await begin(run);
    await tick(); // the caller has the run in hand before its first event
    await run.emit({ type: "agent_start" });
    const { end } = await takeTurns(run, first);
    returnUnderway(run);
    for (const item of run.queues.underway.keys()) await append(run, item);
    if (end !== "done") await notice(run, `The run was stopped: ${LIMIT_TEXTS[end]} (${end}).`);
    const limit = end === "done" ? {} : { limit: end };
    await run.emit({ type: "agent_end", messages: run.added, ...limit });
    return run.added;
  } finally {
    run.cutoff.close();
  }
}

async function takeTurns(run: RunContext, first: Step): Promise<End> {
  const course = new Course(run);
  try {
    const told = [...openResults(run), ...run.announcement()].map((message) => ({ message }));
    let next: Step | End = { ...first, incoming: [...told, ...first.incoming] };
    while ("incoming" in next) next = await course.next(await takeTurn(run, next));
    return next;
  } catch (error) {
    // A hook between two turns failed: the run ends with that as with a failed request.
    await takeTurn(run, { incoming: [], ending: failure(error) });
    return DONE;
  }
}

/** One turn (laws T1, T2). */
async function takeTurn(run: RunContext, step: Step): Promise<TurnEnd> {
  await tick();
  await run.emit({ type: "turn_start" });
  await enter(run, step.incoming);
  const message = await append(run, { message: await reply(run, step) }, true);
  const end = await runBatch(run, message);
  await run.emit({ type: "turn_end", message, toolResults: end.toolResults });
  return { ...end, message };
}

/** The model's reply (law B3), or one that says why there is none. Its start has been shown. */
async function reply(run: RunContext, { poll: polls, ending }: Step): Promise<AssistantMessage> {
  const reader = new ReplyReader(run);
  const read = async () => {
    if (polls) await enter(run, await poll(run, "steering"));
    // After an abort the model is not asked (R9).
    const stream = ending ?? (await run.cutoff.race(() => openStream(run), "abort"));
    if (stream === CUT) return ABORTED;
    return "stopReason" in stream ? stream : reader.read(stream);
  };
  const message = soundReply(run, await read().catch(failure), reader.draft.ids);
  if (!reader.started) await run.emit({ type: "message_start", message });
  return message;
}
