import type { AssistantMessage, AssistantMessageEventStream, Context, ErrorKind, StreamOptions, ToolCall } from "@tau/llm";
import type { AgentLoopConfig } from "./config.ts";
import { toldPrompt } from "./head.ts";
import type { Run } from "./run.ts";
import { ReplyReader } from "./stream-reader.ts";
import { detach, errorText, isRecord, kindOf, parseJson } from "./values.ts";
import { CUT } from "./waiting.ts";

/** How a reply that no provider finished ended. */
export type Ending = { stopReason: "error" | "aborted" | "length"; errorMessage: string; errorKind?: ErrorKind };
export const ABORTED: Ending = { stopReason: "aborted", errorMessage: "The run was aborted.", errorKind: "aborted" };
export const failure = (error: unknown, errorKind: ErrorKind = "unknown"): Ending =>
  ({ stopReason: "error", errorMessage: errorText(error), errorKind });

/** A reply of nothing so far, of the model that was asked. */
export function blankReply({ model: { api, provider, id } }: AgentLoopConfig): AssistantMessage {
  const cost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 };
  const usage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0, cost };
  return { role: "assistant", content: [], api, provider, model: id, usage, stopReason: "stop", timestamp: Date.now() };
}

/**
 * The message as the transcript takes it: whatever a provider gave, it has all fields, its calls have unique ids, names
 * that are text and arguments that are objects (C7, C10), and it bears the requested level (B7).
 * @param known ids that calls have got while they arrived, by contentIndex
 */
export function soundReply({ config, ids }: Run, given: object, known?: ReadonlyMap<number, string>): AssistantMessage {
  const message: AssistantMessage = { ...blankReply(config), ...given, role: "assistant" };
  const content = (Array.isArray(message.content) ? message.content : []).filter(isRecord).map((block, index) =>
    block.type === "toolCall" ? soundCall(block, known?.get(index) ?? ids.claim(block.id)) : block,
  );
  return { ...message, content, ...(config.thinkingLevel && { thinkingLevel: config.thinkingLevel }) };
}

function soundCall(call: ToolCall, id: string): ToolCall {
  const name = typeof call.name === "string" ? call.name : "";
  const given: unknown = call.arguments === undefined ? "" : call.arguments;
  const args = typeof given === "string" ? parseJson(given || "{}") : given;
  if (isRecord(args)) return { ...call, id, name, arguments: args };
  const error = `Arguments must be a JSON object, received ${kindOf(given)}.`;
  return { ...call, id, name, arguments: {}, invalidArguments: { raw: JSON.stringify(given).slice(0, 2000), error } };
}

/** A reply that never was: shows its start. */
export async function brokenReply(run: Run, ending: Ending): Promise<AssistantMessage> {
  const message = soundReply(run, ending);
  await run.emit({ type: "message_start", message });
  return message;
}

/** Asks the model once (law B3). Whatever fails becomes a reply that says so; the start of the reply is shown. */
export async function askModel(run: Run): Promise<AssistantMessage> {
  try {
    const stream = await run.cutoff.race(() => open(run), "abort");
    return stream === CUT ? await brokenReply(run, ABORTED) : await new ReplyReader(run, stream).read();
  } catch (error) {
    return brokenReply(run, failure(error));
  }
}

async function open(run: Run): Promise<AssistantMessageEventStream | typeof CUT> {
  const { config, cutoff, context, told } = run;
  const { apiKey, headers, temperature, maxTokens, thinkingLevel, sessionId, timeouts, network } = config;
  const { signal } = cutoff;
  // The transform may change what it gets (B6).
  const messages = (await config.transformContext?.(detach(context.messages), signal)) ?? context.messages.slice();
  const converted = await config.convertToLlm(messages);
  // The head stays as it was at the session's start (law O3), unless `convertToLlm` keeps later changes from the model.
  const changesSent = told.patches === 0 || converted.some(({ role }) => role === "system");
  const head = changesSent ? run.head : { systemPrompt: toldPrompt(told), tools: [...told.tools.values()] };
  const request: Context = { ...head, messages: run.repair.repair(converted) };
  const key = (await config.getApiKey?.(config.model)) ?? apiKey;
  const wanted = { apiKey: key, headers, temperature, maxTokens, thinkingLevel, sessionId, timeouts, network };
  const options: StreamOptions = { signal, ...Object.fromEntries(Object.entries(wanted).filter(([, value]) => value !== undefined)) };
  // No request after an abort, however late a hook comes back (R9).
  return signal.aborted ? CUT : run.streamFn(config.model, request, options);
}
