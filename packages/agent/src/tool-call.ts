import type { AssistantMessage, ToolCall } from "@tau/llm";
import { NEVER_STARTED } from "./broken-reply.ts";
import { callsOf } from "./calls.ts";
import type { AgentContext } from "./config.ts";
import { CUT } from "./cutoff.ts";
import { copyContext, type RunContext } from "./run-context.ts";
import type { AgentTool, AgentToolResult } from "./tool.ts";
import { blocksOf, failed, type Outcome, usable } from "./tool-result.ts";
import { validateArguments } from "./validate.ts";
import { defined, detach, errorText, isRecord, type Json } from "./values.ts";

/** The call may run, with these arguments. */
type Ready = { tool: AgentTool; args: Json };
/** `silent`: the call was never begun, so no execution is shown. */
type Refused = { refusal: Outcome; silent?: boolean };
export type Decision = Ready | Refused;

const PARTLY_RUN = "Aborted while this call was running: it may have run in part.";
const CUT_OFF = "Not run: the reply was cut off at the output limit. Send the call again, in smaller parts.";
/** More updates than a slow listener has yet to see are dropped. */
const WAITING_UPDATES = 64;

/** The calls of one message, and what they share. */
export class Batch {
  readonly run: RunContext;
  readonly message: AssistantMessage;
  readonly calls: readonly ToolCall[];
  readonly tools: ReadonlyMap<string, AgentTool>;
  /** Copies for the hooks, which may change them. */
  readonly shown: { assistantMessage: AssistantMessage; context: AgentContext } | undefined;

  constructor(run: RunContext, message: AssistantMessage) {
    const { context, config } = run;
    this.run = run;
    this.message = message;
    this.calls = callsOf(message);
    this.tools = new Map((context.tools ?? []).map((tool) => [tool.name, tool]));
    if (this.calls.length > 0 && (config.beforeToolCall || config.afterToolCall))
      this.shown = { assistantMessage: detach(message), context: copyContext(context) };
  }
}

const refuse = (text: string, silent = false): Refused => ({ refusal: failed(text), silent });

/**
 * Whether a call may run, and with which arguments; never fails. It is synchronous up to the hook, so that hooks are
 * asked in call order (C11).
 */
export async function decide(batch: Batch, call: ToolCall, index: number): Promise<Decision> {
  const { message, tools, run } = batch;
  const { config, cutoff } = run;
  const most = config.limits?.maxCallsPerMessage ?? Number.POSITIVE_INFINITY;
  const tool = tools.get(call.name);
  const invalid = call.invalidArguments;
  if (cutoff.signal.aborted) return refuse(NEVER_STARTED, true);
  if (message.stopReason === "length") return refuse(CUT_OFF);
  if (index >= most) return refuse(`Not run: one message may have at most ${most} calls.`);
  if (!tool) return refuse(unknownTool(call.name, [...tools.keys()]));
  if (invalid)
    return refuse(`Invalid arguments for ${tool.name}: ${invalid.error}\nReceived: ${invalid.raw.slice(0, 2000)}`);
  try {
    const ready = checked(tool, prepared(tool, call));
    return "refusal" in ready || !config.beforeToolCall ? ready : await askBefore(batch, call, ready);
  } catch (error) {
    return refuse(`Not run, since the check before this call failed: ${errorText(error)}`);
  }
}

/** The arguments of the transcript, which nobody changes, unless the tool has a word in it. */
function prepared(tool: AgentTool, call: ToolCall): Json {
  return tool.prepareArguments ? detach(tool.prepareArguments(detach(call.arguments))) : call.arguments;
}

function checked(tool: AgentTool, args: Json): Decision {
  const valid = validateArguments(tool.parameters, args);
  return valid.ok ? { tool, args: valid.args } : refuse(`Invalid arguments for ${tool.name}:\n${valid.text}`);
}

async function askBefore({ run, shown }: Batch, toolCall: ToolCall, ready: Ready): Promise<Decision> {
  const { config, cutoff } = run;
  const { tool } = ready;
  if (!shown) return ready;
  const args = detach(ready.args);
  const question = { ...shown, toolCall: detach(toolCall), args };
  const answer = await cutoff.race(() => config.beforeToolCall?.(question, cutoff.signal), "abort");
  if (answer === CUT) return refuse(NEVER_STARTED, true);
  if (answer?.block) return { refusal: failed(String(answer.reason ?? "This call was blocked."), answer.terminate) };
  // A hook that changed the arguments in place meant it, too.
  return checked(tool, detach(answer?.args ?? args));
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

/** A call whose start was announced; `outcome` never fails (laws C5, C8). */
export type Begun = { outcome: Promise<Outcome> };

/** Announces a call and lets it run. An approval that comes after an abort runs nothing (C14). */
export async function begin(batch: Batch, call: ToolCall, decision: Decision): Promise<Begun> {
  const { cutoff, emit } = batch.run;
  const isRefused = "refusal" in decision;
  if (isRefused && decision.silent) return { outcome: Promise.resolve(decision.refusal) };
  if (cutoff.signal.aborted) return { outcome: Promise.resolve(failed(NEVER_STARTED)) };
  const args = isRefused ? call.arguments : decision.args;
  await emit({ type: "tool_execution_start", toolCallId: call.id, toolName: call.name, args });
  return { outcome: finish(batch, call, decision) };
}

async function finish(batch: Batch, call: ToolCall, decision: Decision): Promise<Outcome> {
  const { cutoff, emit } = batch.run;
  let outcome: Outcome;
  if ("refusal" in decision) outcome = decision.refusal;
  else outcome = cutoff.signal.aborted ? failed(NEVER_STARTED) : await execute(batch, call, decision);
  await emit({ type: "tool_execution_end", toolCallId: call.id, toolName: call.name, ...outcome });
  return outcome;
}

async function execute(batch: Batch, call: ToolCall, { tool, args }: Ready): Promise<Outcome> {
  const { cutoff } = batch.run;
  const progress = progressOf(batch.run, call, args);
  const begun = performance.now();
  let outcome: Outcome;
  try {
    // The tool's copy is its own (C15).
    const given = await cutoff.race(() => tool.execute(call.id, detach(args), cutoff.signal, progress.show), "grace");
    if (given === CUT) return { ...failed(PARTLY_RUN), durationMs: Math.round(performance.now() - begun) };
    outcome = usable(given, tool.name);
  } catch (error) {
    outcome = failed(cutoff.signal.aborted ? `${PARTLY_RUN} (${errorText(error)})` : errorText(error));
  } finally {
    progress.close();
  }
  const durationMs = Math.round(performance.now() - begun);
  return { ...(await askAfter(batch, call, { args, ...outcome })), durationMs };
}

/** Shows the progress of a call. Updates after its end are dropped (C15), and those that would only be seen long after. */
function progressOf({ emit }: RunContext, call: ToolCall, args: Json) {
  let isOpen = true;
  let waiting = 0;
  const show = (partial: AgentToolResult) => {
    if (!isOpen || waiting > WAITING_UPDATES || !isRecord(partial)) return;
    const partialResult = { ...detach(partial), content: blocksOf(partial) ?? [] };
    const place = { toolCallId: call.id, toolName: call.name, args };
    waiting++;
    void Promise.resolve(emit({ type: "tool_execution_update", ...place, partialResult })).then(() => waiting--);
  };
  const close = () => {
    isOpen = false;
  };
  return { show, close };
}

/** Lets `afterToolCall` replace parts of the outcome (C13). */
async function askAfter({ run, shown }: Batch, call: ToolCall, ran: Outcome & { args: Json }): Promise<Outcome> {
  const { config, cutoff } = run;
  const { result, isError } = ran;
  if (!config.afterToolCall || !shown) return { result, isError };
  const question = { ...shown, toolCall: detach(call), args: detach(ran.args), result: detach(result), isError };
  try {
    const answer = await cutoff.race(() => config.afterToolCall?.(question, cutoff.signal), "grace");
    return isRecord(answer) ? usable({ ...result, isError, ...defined(answer) }, "It") : { result, isError };
  } catch (error) {
    const note = { type: "text" as const, text: `[The hook after this call failed: ${errorText(error)}]` };
    return { result: { ...result, content: [...result.content, note] }, isError };
  }
}
