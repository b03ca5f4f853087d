import type { AssistantMessage, ImageContent, TextContent, ToolCall, ToolResultMessage } from "@tau/llm";
import type { AgentContext, Limits } from "./config.ts";
import type { AgentMessage } from "./messages.ts";
import { callsOf } from "./repair.ts";
import { copyContext, type Run } from "./run.ts";
import type { AgentTool, AgentToolResult } from "./tool.ts";
import { validateArguments } from "./validate.ts";
import { detach, errorText, isRecord } from "./values.ts";
import { CUT, createSlots } from "./waiting.ts";

type Args = Record<string, unknown>;
/** `durationMs` is absent when the tool did not run. */
type Outcome = { result: AgentToolResult; isError: boolean; durationMs?: number };
type Plan = { tool: AgentTool; args: Args } | { refusal: Outcome; silent?: boolean };
/** What the calls of one message share. */
type Batch = {
  run: Run;
  message: AssistantMessage;
  tools: Map<string, AgentTool>;
  context: AgentContext;
  limits: Limits;
};
export interface BatchEnd {
  toolResults: ToolResultMessage[];
  /** Every result asks for the end of the run (T6). */
  terminate: boolean;
  /** How often in a row the most repeated call of the batch gave its result. */
  repeats: number;
}

const NEVER_STARTED = "Aborted: this call was never started.";
const PARTLY_RUN = "Aborted while this call was running: it may have run in part.";
const CUT_OFF =
  "Not run: the reply was cut off at the output limit, so the call may be incomplete. Send it in smaller parts.";
const ERROR_REPLY = "The reply broke off with an error: this call was never started.";
const MAX_WAITING_UPDATES = 64;
/** From this many identical calls in a row on the result says so (law T8). */
const TOLD_FROM = 5;

/** Runs all calls of one message (laws C1–C6); `append` puts a result into the transcript. */
export async function runBatch(run: Run, message: AssistantMessage, append: (message: AgentMessage) => Promise<void>) {
  const { limits = {}, toolExecution, beforeToolCall, afterToolCall } = run.config;
  const calls = callsOf(message);
  const tools = new Map((run.context.tools ?? []).map((tool) => [tool.name, tool]));
  const hooked = calls.length > 0 && (beforeToolCall ?? afterToolCall);
  const batch: Batch = { run, message, tools, limits, context: hooked ? copyContext(run) : run.context };
  const end: BatchEnd = { toolResults: [], terminate: calls.length > 0, repeats: 0 };
  const record = async (call: ToolCall, { result, isError }: Outcome) => {
    const entry = resultMessage(call, result, isError);
    const repeats = run.cutoff.aborted ? 0 : run.repeated.count(call, entry, message);
    const text = `[This same call gave this same result ${repeats} times in a row. Do something else, or say what is missing.]`;
    if (repeats >= TOLD_FROM) entry.content = [...entry.content, { type: "text", text }];
    end.repeats = Math.max(end.repeats, repeats);
    end.terminate &&= result.terminate === true;
    end.toolResults.push(entry);
    await append(entry);
  };
  const slots = createSlots(limits.maxParallelCalls ?? 8);
  if (toolExecution === "sequential" || calls.some(({ name }) => tools.get(name)?.executionMode === "sequential")) {
    for (const [index, call] of calls.entries()) await record(call, await runCall(batch, call, { index, slots }));
  } else {
    const outcomes = await Promise.all(calls.map((call, index) => runCall(batch, call, { index, slots })));
    for (const [index, call] of calls.entries()) await record(call, outcomes[index] ?? failed(NEVER_STARTED));
  }
  return end;
}

export function resultMessage({ id, name }: ToolCall, { content, details }: AgentToolResult, isError: boolean) {
  const message: ToolResultMessage = {
    role: "toolResult",
    toolCallId: id,
    toolName: name,
    content,
    isError,
    timestamp: Date.now(),
  };
  if (details !== undefined) message.details = details;
  return message;
}

export function failed(text: string, terminate = false): Outcome {
  return {
    result: { content: [{ type: "text", text }], details: undefined, ...(terminate && { terminate }) },
    isError: true,
  };
}

/** Takes one call to its outcome; never fails (laws C5, C8). Its execution events are shown, its result message is not. */
async function runCall(
  batch: Batch,
  call: ToolCall,
  { index, slots }: { index: number; slots: ReturnType<typeof createSlots> },
): Promise<Outcome> {
  const { cutoff, emit } = batch.run;
  const place = { toolCallId: call.id, toolName: call.name };
  const plan = await decide(batch, call, index);
  if ("refusal" in plan && plan.silent) return plan.refusal;
  if (!("refusal" in plan)) await slots.take();
  try {
    // An approval that comes after an abort runs nothing (C14).
    if (cutoff.aborted) return failed(NEVER_STARTED);
    const args = "refusal" in plan ? call.arguments : plan.args;
    await emit({ type: "tool_execution_start", ...place, args });
    const ran =
      "refusal" in plan ? plan.refusal : cutoff.aborted ? failed(NEVER_STARTED) : await execute(batch, call, plan);
    await emit({ type: "tool_execution_end", ...place, ...ran });
    return ran;
  } finally {
    if (!("refusal" in plan)) slots.release();
  }
}

/** Whether the call may run, and with which arguments. Synchronous up to the hook, so that hooks are asked in call order. */
async function decide(batch: Batch, call: ToolCall, index: number): Promise<Plan> {
  const { run, message, tools, limits } = batch;
  const { maxCallsPerMessage: most = Number.POSITIVE_INFINITY } = limits;
  const tool = tools.get(call.name);
  const bad = call.invalidArguments;
  if (message.stopReason === "error") return { refusal: failed(ERROR_REPLY), silent: true };
  if (run.cutoff.aborted || message.stopReason === "aborted") return { refusal: failed(NEVER_STARTED), silent: true };
  if (message.stopReason === "length") return { refusal: failed(CUT_OFF) };
  if (index >= most) return { refusal: failed(`Not run: one message may have at most ${most} calls.`) };
  if (!tool) return { refusal: failed(unknownTool(call.name, [...tools.keys()])) };
  if (bad)
    return { refusal: failed(`Invalid arguments for ${tool.name}: ${bad.error}\nReceived: ${bad.raw.slice(0, 2000)}`) };
  try {
    const args = detach(call.arguments);
    const plan = checked(tool, tool.prepareArguments?.(args) ?? args);
    return "refusal" in plan || !run.config.beforeToolCall ? plan : await askHook(batch, call, plan);
  } catch (error) {
    return { refusal: failed(`Not run, since the check before this call failed: ${errorText(error)}`) };
  }
}

function checked(tool: AgentTool, args: Args): Plan {
  const valid = validateArguments(tool.parameters, args);
  return valid.ok
    ? { tool, args: valid.args }
    : { refusal: failed(`Invalid arguments for ${tool.name}:\n${valid.text}`) };
}

async function askHook(
  { run, message, context }: Batch,
  toolCall: ToolCall,
  plan: { tool: AgentTool; args: Args },
): Promise<Plan> {
  const { config, cutoff } = run;
  const args = detach(plan.args);
  const question = { assistantMessage: message, toolCall, args, context };
  const answer = await cutoff.race(() => config.beforeToolCall?.(question, cutoff.signal), "abort");
  if (answer === CUT) return { refusal: failed(NEVER_STARTED), silent: true };
  if (answer?.block) return { refusal: failed(answer.reason ?? "This call was blocked.", answer.terminate) };
  // A hook that changed the arguments in place meant it, too.
  return checked(plan.tool, answer?.args ?? args);
}

/** The names that exist, and the one most like `name` by shared letters and pairs of letters (law C7, report R015). */
function unknownTool(name: string, tools: string[]): string {
  const pieces = (text: string) => {
    const letters = [
      ...text
        .slice(0, 64)
        .toLowerCase()
        .replace(/[^a-z0-9]/g, ""),
    ];
    return new Set([...letters, ...letters.map((letter, index) => letter + (letters[index + 1] ?? ""))]);
  };
  const wanted = pieces(name);
  const likeness = (tool: string) => {
    const own = pieces(tool);
    return [...own].filter((piece) => wanted.has(piece)).length / (own.size + wanted.size || 1);
  };
  const [nearest = ""] = tools.toSorted((one, other) => likeness(other) - likeness(one));
  const hint = likeness(nearest) > 0.25 ? ` Did you mean "${nearest}"?` : "";
  return `There is no tool "${name.slice(0, 100)}".${hint} Available tools: ${tools.join(", ") || "none"}.`;
}

async function execute(
  batch: Batch,
  call: ToolCall,
  { tool, args }: { tool: AgentTool; args: Args },
): Promise<Outcome> {
  const { emit, cutoff } = batch.run;
  const base = { type: "tool_execution_update", toolCallId: call.id, toolName: call.name, args } as const;
  let waiting = 0;
  const update = (partial: AgentToolResult) => {
    // Late updates are dropped (C15), and those that a slow listener would only see long after.
    if (waiting > MAX_WAITING_UPDATES || !isRecord(partial)) return;
    waiting++;
    void Promise.resolve(emit({ ...base, partialResult: detach(partial) })).then(() => waiting--);
  };
  const begun = performance.now();
  const outcome = await cutoff
    .race(() => tool.execute(call.id, detach(args), cutoff.signal, update), "grace")
    .then(
      (given) => (given === CUT ? CUT : usable(given, tool.name)),
      (error) => failed(cutoff.aborted ? `${PARTLY_RUN} (${errorText(error)})` : errorText(error)),
    );
  waiting = Number.POSITIVE_INFINITY;
  const durationMs = performance.now() - begun;
  return { ...(outcome === CUT ? failed(PARTLY_RUN) : await askAfter(batch, { call, args, outcome })), durationMs };
}

/** The loop's own copy of what a tool gave back; something that says nothing is an error (C8, C15). */
function usable(given: AgentToolResult, name: string): Outcome {
  const all: unknown[] = isRecord(given) && Array.isArray(given.content) ? given.content : [undefined];
  const content = all.filter(
    (block): block is TextContent | ImageContent =>
      isRecord(block) && typeof (block.type === "image" ? block.data : block.text) === "string",
  );
  if (content.length === 0 && all.length > 0) return failed(`The tool ${name} gave back nothing usable.`);
  const result: AgentToolResult = { content: detach(content), details: detach(given.details) };
  if (given.terminate === true) result.terminate = true;
  return { result, isError: given.isError === true };
}

/** Lets `afterToolCall` replace parts of the outcome (C13). */
async function askAfter(
  batch: Batch,
  { call, args, outcome }: { call: ToolCall; args: Args; outcome: Outcome },
): Promise<Outcome> {
  const { config, cutoff } = batch.run;
  const { result, isError } = outcome;
  const ran = { assistantMessage: batch.message, toolCall: call, args, context: batch.context, result, isError };
  try {
    const answer = await cutoff.race(() => config.afterToolCall?.(ran, cutoff.signal), "grace");
    if (!isRecord(answer)) return outcome;
    const { isError: replaced = isError, ...fields } = answer;
    return { result: { ...result, ...fields }, isError: replaced };
  } catch (error) {
    const note = { type: "text" as const, text: `[The hook after this call failed: ${errorText(error)}]` };
    return { result: { ...result, content: [...result.content, note] }, isError };
  }
}
