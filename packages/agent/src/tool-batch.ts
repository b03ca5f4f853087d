import type { AssistantMessage, ToolCall, ToolResultMessage } from "@tau/llm";
import { brokenReplyResults, isBrokenReply } from "./broken-reply.ts";
import { callsOf } from "./calls.ts";
import type { RunContext } from "./run-context.ts";
import { Semaphore } from "./semaphore.ts";
import { tick } from "./tick.ts";
import { Batch, begin, type Decision, decide } from "./tool-call.ts";
import { failed, type Outcome, resultMessage } from "./tool-result.ts";
import { append } from "./transcript.ts";

/** `terminate`: every result asks for the end of the run (T6). `repeats`: the count of the most repeated call (T8). */
export type BatchEnd = { toolResults: ToolResultMessage[]; terminate: boolean; repeats: number };

/** From this many identical calls in a row on the result says so (law T8). */
const TOLD_FROM = 5;

/** Runs all calls of one message (laws C1–C6). */
export async function runBatch(run: RunContext, message: AssistantMessage): Promise<BatchEnd> {
  const batch = new Batch(run, message);
  const end: BatchEnd = { toolResults: [], terminate: batch.calls.length > 0, repeats: 0 };
  // Nothing of a reply that broke off is run (C9).
  for (const result of brokenReplyResults(message)) end.toolResults.push(await append(run, { message: result }));
  if (isBrokenReply(message)) return end;
  if (isSequential(batch)) {
    for (const [index, call] of batch.calls.entries()) {
      const { outcome } = await begin(batch, call, await decide(batch, call, index));
      await record(batch, end, { call, outcome: await outcome });
    }
    return end;
  }
  for (const ran of await runSideBySide(batch)) await record(batch, end, ran);
  return end;
}

/** One sequential tool makes the whole batch sequential (C4). */
function isSequential({ run, calls, tools }: Batch): boolean {
  const modes = [run.config.toolExecution, ...calls.map(({ name }) => tools.get(name)?.executionMode)];
  return modes.includes("sequential");
}

type Ran = { call: ToolCall; outcome: Outcome };

/**
 * All questions are asked at once. Calls start in call order; only one whose question stays open is overtaken, and
 * starts as soon as it is allowed (C12). A call takes its place among the running ones after its question.
 */
async function runSideBySide(batch: Batch): Promise<Ran[]> {
  const places = new Semaphore(batch.run.config.limits?.maxParallelCalls ?? 8);
  let line: Promise<unknown> = Promise.resolve();
  const start = async (call: ToolCall, decision: Decision): Promise<Ran> => {
    const runs = !("refusal" in decision);
    const begun = line.then(async () => {
      if (runs) await places.take();
      return begin(batch, call, decision);
    });
    line = begun;
    const outcome = await (await begun).outcome;
    if (runs) places.release();
    return { call, outcome };
  };
  const decisions = batch.calls.map((call, index) => ({ call, decision: decide(batch, call, index) }));
  const running: Promise<Ran>[] = [];
  for (const { call, decision } of decisions) {
    running.push(decision.then((decided) => start(call, decided)));
    await Promise.race([decision, tick()]);
  }
  return Promise.all(running);
}

/** Puts the result of a call into the transcript. */
async function record({ run, message }: Batch, end: BatchEnd, { call, outcome }: Ran): Promise<void> {
  const entry = resultMessage(call, outcome, run.now());
  const repeats = run.cutoff.signal.aborted ? 0 : run.repeated.count(call, entry, message);
  const text = `[This same call gave this same result ${repeats} times in a row. Do something else, or say what is missing.]`;
  if (repeats >= TOLD_FROM) entry.content = [...entry.content, { type: "text", text }];
  end.repeats = Math.max(end.repeats, repeats);
  end.terminate &&= outcome.result.terminate === true;
  end.toolResults.push(await append(run, { message: entry }));
}

/** Results of calls that an earlier run left open (law C9). */
export function openResults({ context: { messages }, config, now }: RunContext): ToolResultMessage[] {
  const { startedCalls: started } = config;
  const tail = messages.slice(messages.findLastIndex(({ role }) => role !== "toolResult"));
  const answered = new Set(tail.map((message) => message.role === "toolResult" && message.toolCallId));
  const open = tail.flatMap(callsOf).filter(({ id }) => !answered.has(id));
  return open.map((call) => {
    const text = started && !started.has(call.id) ? "It was never started." : "It may have run in part.";
    return resultMessage(call, failed(`The session was interrupted before this call had a result. ${text}`), now());
  });
}
