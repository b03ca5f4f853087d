import type { AssistantMessage, StreamFn, ToolResultMessage } from "@tau/llm";
import { type BatchEnd, failed, resultMessage, runBatch } from "./call.ts";
import type { AgentContext, AgentLoopConfig, Emit, QueueName, Turn } from "./config.ts";
import type { LimitName } from "./events.ts";
import { announce, declaration, replay, tell } from "./head.ts";
import type { AgentMessage } from "./messages.ts";
import { CallIds, callsOf, hasText, PairRepair } from "./repair.ts";
import { RepeatedCalls } from "./repetition.ts";
import { ABORTED, askModel, brokenReply, type Ending, failure } from "./reply.ts";
import { copyContext, type Run } from "./run.ts";
import { CUT, Cutoff, serialEmit, tick } from "./waiting.ts";

/** A message on its way into the transcript, and the queue it can go back to. */
type Incoming = { message: AgentMessage; from?: QueueName };
/** What follows a turn: another one, or the end. */
type Next = { incoming: Incoming[]; poll: boolean } | { end: LimitName | "done" };
type TurnEnd = BatchEnd & { message: AssistantMessage };

const DONE: Next = { end: "done" };
const LIMIT_TEXTS: Record<LimitName, string> = {
  maxTurns: "the largest number of turns is reached",
  maxConsecutiveLengthStops: "the replies were cut off at the output limit again and again",
  maxIdenticalCalls: "the same call gave the same result again and again",
  maxCallsPerMessage: "one message had more tool calls than are allowed",
};
let defaultStreamFn: StreamFn | undefined;

/** Installs the `streamFn` of all runs that are given none (law B4). */
export function setDefaultStreamFn(streamFn: StreamFn | undefined): void {
  defaultStreamFn = streamFn;
}

/**
 * Runs the agent from new messages until it stops (laws R, T). Resolves with all messages of the run, also when the
 * model, a tool or a hook fails: messages and events tell that.
 * @param emit awaited for each event, one at a time; a throw is reported as `listener_error`
 * @throws Error when there are no prompts or no `streamFn`
 */
export async function runAgentLoop(
  prompts: AgentMessage[],
  context: AgentContext,
  config: AgentLoopConfig,
  emit: Emit,
  signal?: AbortSignal,
  streamFn?: StreamFn,
): Promise<AgentMessage[]> {
  if (prompts.length === 0) throw new Error("A run needs at least one message; `continue` goes on without one.");
  const first = prompts.map((message) => ({ message }));
  return drive(createRun(context, config, { emit, signal, streamFn }), first);
}

/**
 * Goes on from the transcript without a new message (law R2).
 * @throws Error when the transcript is empty, or ends with a complete answer and no queue has a message
 */
export async function runAgentLoopContinue(
  context: AgentContext,
  config: AgentLoopConfig,
  emit: Emit,
  signal?: AbortSignal,
  streamFn?: StreamFn,
): Promise<AgentMessage[]> {
  const last = context.messages.at(-1);
  const run = createRun(context, config, { emit, signal, streamFn });
  if (last && (last.role !== "assistant" || callsOf(last).length > 0)) return drive(run, []);
  const queued = last ? await pollQueues(run) : [];
  if (queued.length > 0) return drive(run, queued);
  run.cutoff.close();
  throw new Error(`There is nothing to continue: ${last ? "no message is queued" : "the transcript is empty"}.`);
}

function createRun(
  given: AgentContext,
  config: AgentLoopConfig,
  {
    emit,
    signal,
    streamFn = defaultStreamFn,
  }: { emit: Emit; signal?: AbortSignal | undefined; streamFn?: StreamFn | undefined },
): Run {
  if (!streamFn) throw new Error("No model to ask: pass a streamFn or install one with setDefaultStreamFn.");
  const context = { ...given, messages: given.messages.slice() };
  const { systemPrompt, tools } = config.head ?? context;
  const own = { ...(systemPrompt && { systemPrompt }), ...(tools && { tools: tools.map(declaration) }) };
  const head = context.messages[0]?.role === "system" ? {} : own;
  return {
    config,
    context,
    streamFn,
    emit: serialEmit(emit),
    added: [],
    cutoff: new Cutoff(signal ?? new AbortController().signal, config.limits?.abortGraceMs ?? 1000),
    head,
    told: replay(head, context.messages),
    ids: new CallIds(context.messages),
    repair: new PairRepair(),
    repeated: new RepeatedCalls(),
    turns: 0,
    lengthStops: 0,
    emptyReplies: 0,
  };
}

/** The whole run: one start, one end, whatever happens between (law T4). */
async function drive(run: Run, first: Incoming[]): Promise<AgentMessage[]> {
  let end: LimitName | "done" = "done";
  await tick(); // the caller has the run in hand before its first event
  await run.emit({ type: "agent_start" });
  try {
    const before = [...openResults(run), ...announce(run.told, run.context)].map((message) => ({ message }));
    let next: Next = { incoming: [...before, ...first], poll: first.every(({ from }) => !from) };
    while ("incoming" in next) next = await decide(run, await takeTurn(run, next));
    end = next.end;
    if (end !== "done") await notice(run, `The run was stopped: ${LIMIT_TEXTS[end]} (${end}).`);
  } catch (error) {
    // A hook between two turns failed: the run ends with that as with a failed request.
    await takeTurn(run, { incoming: [], poll: false }, failure(error));
  } finally {
    run.cutoff.close();
  }
  await run.emit({ type: "agent_end", messages: run.added, ...(end !== "done" && { limit: end }) });
  return run.added;
}

/** Results of calls that an earlier run left open (law C9). */
function openResults({ context: { messages }, config: { startedCalls: started } }: Run): ToolResultMessage[] {
  // A change of the prompt after the interruption stands behind the open calls.
  const at = messages.findLastIndex(({ role }) => role !== "toolResult" && role !== "system");
  const answered = new Set(
    messages.slice(at + 1).map((message) => message.role === "toolResult" && message.toolCallId),
  );
  const open = messages
    .slice(Math.max(at, 0), at + 1)
    .flatMap(callsOf)
    .filter(({ id }) => !answered.has(id));
  return open.map((call) => {
    const text = started && !started.has(call.id) ? "It was never started." : "It may have run in part.";
    return resultMessage(
      call,
      failed(`The session was interrupted before this call had a result. ${text}`).result,
      true,
    );
  });
}

async function append(run: Run, message: AgentMessage, shown = false): Promise<void> {
  if (!shown) await run.emit({ type: "message_start", message });
  run.context.messages.push(message);
  run.added.push(message);
  tell(run.told, message);
  await run.emit({ type: "message_end", message });
}

/** Something the user, and later the model, should know about the run. */
const notice = (run: Run, content: string): Promise<void> =>
  append(run, { role: "custom", customType: "tau.notice", content, display: true, timestamp: Date.now() });

/** One turn (laws T1, T2). After an abort, or with an `ending`, the model is not asked and the reply says why (R9). */
async function takeTurn(
  run: Run,
  { incoming, poll }: { incoming: Incoming[]; poll: boolean },
  ending?: Ending,
): Promise<TurnEnd> {
  await tick();
  await run.emit({ type: "turn_start" });
  await enter(run, incoming);
  const message = ending ? await brokenReply(run, ending) : await replyOf(run, poll);
  await append(run, message, true);
  const end = await runBatch(run, message, (result) => append(run, result));
  await run.emit({ type: "turn_end", message, toolResults: end.toolResults });
  run.turns++;
  return { ...end, message };
}

async function replyOf(run: Run, poll: boolean): Promise<AssistantMessage> {
  try {
    if (poll) await enter(run, await pollQueue(run, "steering"));
  } catch (error) {
    return brokenReply(run, failure(error));
  }
  return run.cutoff.aborted ? brokenReply(run, ABORTED) : askModel(run);
}

/** Puts messages into the transcript. After an abort queued ones go back instead (Q4, Q5). */
async function enter(run: Run, incoming: Incoming[]): Promise<void> {
  const back: Incoming[] = [];
  for (const item of incoming) {
    if (item.from && run.cutoff.aborted && run.config.returnMessages) back.push(item);
    else await append(run, item.message);
  }
  giveBack(run, back);
}

function giveBack({ config }: Run, incoming: Incoming[]): void {
  for (const { message, from } of incoming.toReversed()) if (from) config.returnMessages?.([message], from);
}

async function pollQueue({ config, cutoff }: Run, from: "steering" | "follow_up"): Promise<Incoming[]> {
  const poll = async () =>
    (from === "steering" ? config.getSteeringMessages?.() : config.getFollowUpMessages?.()) ?? [];
  // What comes when the run has gone on already must not be lost (Q4).
  const messages = await cutoff.race(poll, "abort", (late) => config.returnMessages?.(late, from));
  return messages === CUT ? [] : messages.map((message) => ({ message, from }));
}

/** Steering first, then follow-ups (Q3). */
async function pollQueues(run: Run): Promise<Incoming[]> {
  const steering = await pollQueue(run, "steering");
  return steering.length > 0 ? steering : pollQueue(run, "follow_up");
}

/** Every way a run can go on or end (laws T5, T6, T8). */
async function decide(run: Run, end: TurnEnd): Promise<Next> {
  const { config, cutoff } = run;
  const { message, toolResults } = end;
  if (cutoff.aborted) return afterAbort(run, end);
  if (message.stopReason === "error" || message.stopReason === "aborted") return DONE;
  const turn: Turn = { message, toolResults, context: copyContext(run) };
  const stop = await cutoff.race(() => config.shouldStopAfterTurn?.(turn), "abort");
  if (stop === CUT) return afterAbort(run, end);
  if (stop) return DONE;
  const limit = limitOf(run, end);
  if (limit) return { end: limit };
  const poll = goesOn(run, end);
  const incoming = poll ? [] : await pollQueues(run);
  if (cutoff.aborted) return afterAbort(run, end, incoming);
  if (!poll && incoming.length === 0) {
    if (message.stopReason === "length" && message.errorMessage) await notice(run, message.errorMessage);
    if (run.emptyReplies > 1) await notice(run, "The run ends without an answer: the model gave an empty reply again.");
    return DONE;
  }
  if (run.turns >= (config.limits?.maxTurns ?? Number.POSITIVE_INFINITY)) {
    giveBack(run, incoming);
    return { end: "maxTurns" };
  }
  const change = await prepare(run, turn);
  return { incoming: [...change.map((item) => ({ message: item })), ...incoming], poll };
}

/** With an interrupt the run goes on with its message (R10). Else a run that was not over closes with an aborted reply (R9). */
function afterAbort(run: Run, { message }: TurnEnd, incoming: Incoming[] = []): Next {
  giveBack(run, incoming);
  const interrupt = run.config.takeInterrupt?.();
  if (!interrupt) {
    const open = message.stopReason !== "aborted" && (callsOf(message).length > 0 || incoming.length > 0);
    return open ? { incoming: [], poll: false } : DONE;
  }
  run.cutoff.close();
  run.cutoff = new Cutoff(interrupt.signal, run.config.limits?.abortGraceMs ?? 1000);
  return { incoming: interrupt.messages.map((item) => ({ message: item, from: "interrupt" })), poll: false };
}

const isCutOff = ({ message, toolResults }: TurnEnd) =>
  message.stopReason === "length" && (toolResults.length > 0 || !hasText(message));

function limitOf(run: Run, end: TurnEnd): LimitName | undefined {
  const { maxConsecutiveLengthStops = 3, maxIdenticalCalls = 20, maxCallsPerMessage } = run.config.limits ?? {};
  run.lengthStops = isCutOff(end) ? run.lengthStops + 1 : 0;
  if (isCutOff(end) && run.lengthStops >= maxConsecutiveLengthStops) return "maxConsecutiveLengthStops";
  if (end.repeats >= maxIdenticalCalls) return "maxIdenticalCalls";
  return end.toolResults.length > (maxCallsPerMessage ?? Number.POSITIVE_INFINITY) ? "maxCallsPerMessage" : undefined;
}

/** Whether the model is asked again without a new message; a retry invents none (R3). */
function goesOn(run: Run, end: TurnEnd): boolean {
  const said = end.toolResults.length > 0 || isCutOff(end);
  run.emptyReplies = said || hasText(end.message) ? 0 : run.emptyReplies + 1;
  if (said) return !end.terminate;
  return run.emptyReplies > 0 && run.emptyReplies <= (run.config.limits?.maxEmptyRetries ?? 1);
}

/** Lets `prepareNextTurn` change what the next turn works with; gives the message that announces it (B8, B9). */
async function prepare(run: Run, turn: Turn): Promise<AgentMessage[]> {
  const { config, cutoff } = run;
  const next = await cutoff.race(() => config.prepareNextTurn?.(turn, cutoff.signal), "abort");
  if (!next || next === CUT) return [];
  const { context, model, thinkingLevel } = next;
  run.config = { ...config, ...(model && { model }), ...(thinkingLevel && { thinkingLevel }) };
  if (!context) return [];
  run.context = { ...context, messages: context.messages.slice() };
  run.ids = new CallIds(run.context.messages);
  run.told = replay(run.context.messages[0]?.role === "system" ? {} : run.head, run.context.messages);
  return announce(run.told, run.context);
}
