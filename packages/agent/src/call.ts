import type { AssistantMessage, ToolCall, ToolResultMessage } from "@tau/llm";
import type { AgentContext } from "./config.ts";
import type { Run } from "./loop.ts";
import { callsOf } from "./repair.ts";
import type { AgentTool, AgentToolResult } from "./tool.ts";
import { validateArguments } from "./validate.ts";
import { defined, detach, errorText, isRecord, type Json } from "./values.ts";
import { CUT, createSlots } from "./waiting.ts";

/** `durationMs` is absent when the tool did not run. */
type Outcome = { result: AgentToolResult; isError: boolean; durationMs?: number };
type Ready = { tool: AgentTool; args: Json };
/** `silent`: the call was never begun, so no execution is shown. */
type Refused = { refusal: Outcome; silent?: boolean };
/** What hooks get to see of a batch: copies of their own. */
type Shown = { assistantMessage: AssistantMessage; context: AgentContext };
type Batch = { run: Run; tools: Map<string, AgentTool>; message: AssistantMessage; shown: Shown };
/** `terminate`: every result asks for the end of the run (T6). `repeats`: the count of the most repeated call (T8). */
export type BatchEnd = { toolResults: ToolResultMessage[]; terminate: boolean; repeats: number };

const NEVER_STARTED = "Aborted: this call was never started.";
const PARTLY_RUN = "Aborted while this call was running: it may have run in part.";
const CUT_OFF = "Not run: the reply was cut off at the output limit. Send the call again, in smaller parts.";
const ERROR_REPLY = "The reply broke off with an error: this call was never started.";
/** From this many identical calls in a row on the result says so (law T8). */
const TOLD_FROM = 5;

export function failed(text: string, terminate = false): Outcome {
  const content = [{ type: "text" as const, text }];
  return { result: { content, details: undefined, ...(terminate && { terminate }) }, isError: true };
}

const refuse = (text: string, silent = false): Refused => ({ refusal: failed(text), silent });

export function resultMessage(call: ToolCall, { result: { content, details }, isError }: Outcome): ToolResultMessage {
  const place = { toolCallId: call.id, toolName: call.name };
  const message: ToolResultMessage = { role: "toolResult", ...place, content, isError, timestamp: Date.now() };
  return details === undefined ? message : { ...message, details };
}

/** A copy whose lists the receiver may change. */
export function copyOf(of: AgentContext): AgentContext {
  return { ...of, messages: of.messages.slice(), ...(of.tools && { tools: of.tools.slice() }) };
}

/** Runs all calls of one message (laws C1–C6). */
export async function runBatch(run: Run, message: AssistantMessage): Promise<BatchEnd> {
  const { limits, toolExecution } = run.config;
  const tools = new Map((run.context.tools ?? []).map((tool) => [tool.name, tool]));
  const shown = { assistantMessage: detach(message), context: copyOf(run.context) };
  const batch: Batch = { run, tools, message, shown };
  const calls = callsOf(message);
  const end: BatchEnd = { toolResults: [], terminate: calls.length > 0, repeats: 0 };
  const record = async (call: ToolCall, outcome: Outcome) => {
    const entry = resultMessage(call, outcome);
    const repeats = run.cutoff.aborted ? 0 : run.repeated.count(call, entry, message);
    const text = `[This same call gave this same result ${repeats} times in a row. Do something else, or say what is missing.]`;
    if (repeats >= TOLD_FROM) entry.content = [...entry.content, { type: "text", text }];
    end.repeats = Math.max(end.repeats, repeats);
    end.terminate &&= outcome.result.terminate === true;
    end.toolResults.push(await run.append({ message: entry }));
  };
  const { take, release } = createSlots(limits?.maxParallelCalls ?? 8);
  const runOne = async (call: ToolCall, index: number) => {
    const plan = await decide(batch, call, index);
    if ("refusal" in plan) return show(batch, call, plan);
    await take();
    return show(batch, call, plan).finally(release);
  };
  const sequential = [toolExecution, ...calls.map(({ name }) => tools.get(name)?.executionMode)].includes("sequential");
  const outcomes = sequential ? [] : await Promise.all(calls.map(runOne));
  for (const [index, call] of calls.entries()) await record(call, outcomes[index] ?? (await runOne(call, index)));
  return end;
}

/** Takes a call to its outcome; never fails (laws C5, C8). An approval that comes after an abort runs nothing (C14). */
async function show(batch: Batch, call: ToolCall, plan: Ready | Refused): Promise<Outcome> {
  const { cutoff, emit } = batch.run;
  const place = { toolCallId: call.id, toolName: call.name };
  const refused = "refusal" in plan;
  if (refused && plan.silent) return plan.refusal;
  if (cutoff.aborted) return failed(NEVER_STARTED);
  await emit({ type: "tool_execution_start", ...place, args: refused ? call.arguments : plan.args });
  const outcome = refused ? plan.refusal : cutoff.aborted ? failed(NEVER_STARTED) : await execute(batch, call, plan);
  await emit({ type: "tool_execution_end", ...place, ...outcome });
  return outcome;
}

/** Whether the call may run, and with which arguments. Synchronous up to the hook, so that hooks are asked in call order. */
async function decide({ run, message, shown, tools }: Batch, call: ToolCall, index: number): Promise<Ready | Refused> {
  const { config, cutoff } = run;
  const most = config.limits?.maxCallsPerMessage ?? Number.POSITIVE_INFINITY;
  const tool = tools.get(call.name);
  const bad = call.invalidArguments;
  if (message.stopReason === "error") return refuse(ERROR_REPLY, true);
  if (cutoff.aborted || message.stopReason === "aborted") return refuse(NEVER_STARTED, true);
  if (message.stopReason === "length") return refuse(CUT_OFF);
  if (index >= most) return refuse(`Not run: one message may have at most ${most} calls.`);
  if (!tool) return refuse(unknownTool(call.name, [...tools.keys()]));
  if (bad) return refuse(`Invalid arguments for ${tool.name}: ${bad.error}\nReceived: ${bad.raw.slice(0, 2000)}`);
  try {
    const given = detach(call.arguments);
    const plan = checked(tool, tool.prepareArguments?.(given) ?? given);
    if ("refusal" in plan || !config.beforeToolCall) return plan;
    const args = detach(plan.args);
    const question = { ...shown, toolCall: detach(call), args };
    const answer = await cutoff.race(() => config.beforeToolCall?.(question, cutoff.signal), "abort");
    if (answer === CUT) return refuse(NEVER_STARTED, true);
    if (answer?.block) return { refusal: failed(String(answer.reason ?? "This call was blocked."), answer.terminate) };
    // A hook that changed the arguments in place meant it, too.
    return checked(tool, answer?.args ?? args);
  } catch (error) {
    return refuse(`Not run, since the check before this call failed: ${errorText(error)}`);
  }
}

function checked(tool: AgentTool, args: Json): Ready | Refused {
  const valid = validateArguments(tool.parameters, args);
  return valid.ok ? { tool, args: detach(valid.args) } : refuse(`Invalid arguments for ${tool.name}:\n${valid.text}`);
}

/** The names that exist, and the one most like `name` by its letters (law C7, report R015). */
function unknownTool(name: string, tools: string[]): string {
  const wanted = [...name.slice(0, 64).toLowerCase()];
  const shared = (tool: string) => [...tool.toLowerCase()].filter((letter) => wanted.includes(letter)).length;
  const likeness = (tool: string) => shared(tool) / Math.max(tool.length, wanted.length);
  const [nearest = ""] = tools.toSorted((one, other) => likeness(other) - likeness(one));
  const hint = likeness(nearest) >= 0.4 ? ` Did you mean "${nearest}"?` : "";
  return `There is no tool "${name.slice(0, 100)}".${hint} Available tools: ${tools.join(", ") || "none"}.`;
}

async function execute(batch: Batch, call: ToolCall, { tool, args }: Ready): Promise<Outcome> {
  const { emit, cutoff } = batch.run;
  const place = { type: "tool_execution_update", toolCallId: call.id, toolName: call.name, args } as const;
  let waiting = 0;
  const update = (partial: AgentToolResult) => {
    // Late updates are dropped (C15), and those that a slow listener would only see long after.
    if (waiting > 64 || !isRecord(partial)) return;
    waiting++;
    const partialResult = { ...detach(partial), content: blocksOf(partial) ?? [] };
    void Promise.resolve(emit({ ...place, partialResult })).then(() => waiting--);
  };
  const begun = performance.now();
  const run = cutoff.race(() => tool.execute(call.id, detach(args), cutoff.signal, update), "grace");
  const failure = (error: unknown) => failed(cutoff.aborted ? `${PARTLY_RUN} (${errorText(error)})` : errorText(error));
  const outcome = await run.then((given) => (given === CUT ? CUT : usable(given, tool.name))).catch(failure);
  waiting = Number.POSITIVE_INFINITY;
  const durationMs = performance.now() - begun;
  return { ...(outcome === CUT ? failed(PARTLY_RUN) : await askAfter(batch, call, { args, ...outcome })), durationMs };
}

/** The loop's own copy of what a tool gave back. @throws Error when it says nothing (C8, C15) */
function usable(given: AgentToolResult, name: string): Outcome {
  const content = blocksOf(given ?? {});
  if (!content || content.length < Math.min(1, given.content.length)) throw new Error(`${name} gave nothing usable.`);
  const { terminate, isError } = given;
  const result = { content, details: detach(given.details), ...(terminate === true && { terminate }) };
  return { result, isError: isError === true };
}

const says = (block: unknown) =>
  isRecord(block) && typeof (block.type === "image" ? block.data : block.text) === "string";
/** Copies of those blocks that are texts or images. */
function blocksOf({ content }: Partial<AgentToolResult>): AgentToolResult["content"] | undefined {
  return Array.isArray(content) ? content.map(detach).filter(says) : undefined;
}

/** Lets `afterToolCall` replace parts of the outcome (C13). */
async function askAfter({ run, shown }: Batch, toolCall: ToolCall, ran: Outcome & { args: Json }): Promise<Outcome> {
  const { result, isError, args } = ran;
  const question = { ...shown, ...detach({ toolCall, args, result }), isError };
  try {
    const ask = () => run.config.afterToolCall?.(question, run.cutoff.signal);
    const answer = await run.cutoff.race(ask, "grace");
    return isRecord(answer) ? usable({ ...result, isError, ...defined(answer) }, "It") : { result, isError };
  } catch (error) {
    const note = { type: "text" as const, text: `[The hook after this call failed: ${errorText(error)}]` };
    return { result: { ...result, content: [...result.content, note] }, isError };
  }
}
