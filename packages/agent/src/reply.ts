import type {
  AssistantMessage,
  AssistantMessageEvent,
  AssistantMessageEventStream,
  ErrorKind,
  ToolCall,
} from "@tau/llm";
import type { Run } from "./loop.ts";
import { cutRepeats, RepeatedText } from "./repetition.ts";
import { detach, errorText, isRecord, kindOf, parseJson } from "./values.ts";
import { tick } from "./waiting.ts";

type Update = Exclude<AssistantMessageEvent, { type: "done" | "error" }>;
type Delta = Extract<Update, { delta: string }>;
/** How a reply ended that no provider finished. */
export type Ending = { stopReason: "error" | "aborted" | "length"; errorMessage: string; errorKind?: ErrorKind };

export const ABORTED: Ending = { stopReason: "aborted", errorMessage: "The run was aborted.", errorKind: "aborted" };
const REPEATED: Ending = {
  stopReason: "length",
  errorMessage: "The reply was stopped: it repeated one text over and over.",
};
export const failure = (error: unknown, errorKind: ErrorKind = "unknown"): Ending => {
  return { stopReason: "error", errorMessage: errorText(error), errorKind };
};
const UNEXPLAINED = failure("The provider broke off the reply.");
const isDelta = (event: Update | undefined): event is Delta => event !== undefined && "delta" in event;

/** A reply of nothing so far, of the model that was asked. */
function blankReply({ config: { model } }: Run): AssistantMessage {
  const cost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 };
  const usage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0, cost };
  const place = { api: model.api, provider: model.provider, model: model.id };
  return { role: "assistant", content: [], ...place, usage, stopReason: "stop", timestamp: Date.now() };
}

/**
 * The message as the transcript takes it: whatever was given, it has all fields, its calls have unique ids, names that
 * are text and arguments that are objects (C7, C10), and it bears the requested level (B7).
 * @param known ids that calls have got while they arrived, by contentIndex
 */
export function soundReply(run: Run, given: object, known = new Map<number, string>()): AssistantMessage {
  const { thinkingLevel } = run.config;
  const message: AssistantMessage = { ...blankReply(run), ...(detach(given) ?? UNEXPLAINED), role: "assistant" };
  const blocks = (Array.isArray(message.content) ? message.content : []).filter(isRecord);
  const sound = (call: ToolCall, at: number) => soundCall(call, known.get(at) ?? run.ids.claim(call.id));
  const content = blocks.map((block, at) => (block.type === "toolCall" ? sound(block, at) : block));
  return { ...message, content, ...(thinkingLevel && { thinkingLevel }) };
}

function soundCall(call: ToolCall, id: string): ToolCall {
  const name = typeof call.name === "string" ? call.name : "";
  const given: unknown = call.arguments === undefined ? "" : call.arguments;
  const args = typeof given === "string" ? parseJson(given || "{}") : given;
  if (isRecord(args)) return { ...call, id, name, arguments: args };
  const error = `Arguments must be a JSON object, received ${kindOf(given)}.`;
  return { ...call, id, name, arguments: {}, invalidArguments: { raw: JSON.stringify(given).slice(0, 2000), error } };
}

/**
 * Reads one reply to its end and shows it as message_start and message_update (laws S2–S6). While a slow listener is
 * awaited it reads on and merges deltas, so that the backlog stays bounded. It always settles with a message.
 */
export class ReplyReader {
  readonly #run: Run;
  readonly #iterator: AsyncIterator<AssistantMessageEvent>;
  readonly #backlog: Update[] = [];
  /** Final ids of calls by contentIndex, and whether one is not the provider's (C10). */
  readonly #ids = new Map<number, string>();
  #renamed = false;
  #latest: AssistantMessage | undefined;
  #final: AssistantMessage | undefined;
  #ending = failure("The stream ended before the reply was complete.", "retryable");
  #started = false;
  #over = false;
  #reading: Promise<void> | undefined;
  #watched = { index: -1, text: new RepeatedText() };

  constructor(run: Run, stream: AssistantMessageEventStream) {
    this.#run = run;
    this.#iterator = stream[Symbol.asyncIterator]();
  }

  async read(): Promise<AssistantMessage> {
    const { cutoff, emit } = this.#run;
    await cutoff.race(() => this.#readAll(), "grace");
    this.#over = true;
    // A generator that hangs would never answer: nobody waits for it.
    (async () => this.#iterator.return?.())().catch(() => undefined);
    const arrived = this.#final ?? { ...this.#latest, ...this.#ending };
    // After an abort the reply is aborted whatever the provider says (R9).
    const ending = cutoff.aborted && arrived.stopReason !== "aborted" ? ABORTED : {};
    const message = soundReply(this.#run, { ...arrived, ...ending }, this.#ids);
    if (!this.#started) await emit({ type: "message_start", message });
    return message;
  }

  async #readAll(): Promise<void> {
    for (;;) {
      // An abort overtakes what was not shown yet (S6).
      const event = this.#run.cutoff.aborted ? undefined : this.#backlog.shift();
      if (event) await this.#show(event);
      else if (this.#over) return;
      else await this.#readOne();
    }
  }

  #show(update: Update): void | Promise<void> {
    const message = update.partial;
    let shown = this.#started ? undefined : this.#run.emit({ type: "message_start", message });
    this.#started = true;
    if (update.type !== "start")
      shown = this.#run.emit({ type: "message_update", message, assistantMessageEvent: update });
    return shown && this.#readWhile(shown);
  }

  /** Listeners that need real time, not only promises, do not stop the reading. */
  async #readWhile(shown: Promise<void>): Promise<void> {
    let waiting = true;
    const showing = shown.then(() => {
      waiting = false;
    });
    await Promise.race([showing, tick()]);
    const readOn = async () => {
      while (waiting && !this.#over) await this.#readOne();
    };
    void readOn();
    await showing;
  }

  #readOne(): Promise<void> {
    const read = async () => {
      const step = await this.#iterator.next();
      if (step.done) this.#over = true;
      else if (!this.#over) this.#accept(step.value);
    };
    const failed = (error: unknown) => this.#end(failure(error));
    this.#reading ??= read()
      .catch(failed)
      .finally(() => {
        this.#reading = undefined;
      });
    return this.#reading;
  }

  #end(ending: Ending): void {
    this.#ending = ending;
    this.#over = true;
  }

  #accept(event: AssistantMessageEvent): void {
    if (event.type === "done" || event.type === "error") {
      const message = event.type === "done" ? event.message : event.error;
      // An error is one, whatever stop its message bears.
      const ending = event.type === "done" || /error|aborted/.test(message?.stopReason) ? {} : UNEXPLAINED;
      if (isRecord(message)) this.#final = { ...message, ...ending };
      this.#over = true;
      return;
    }
    const update = this.#withIds({ ...event, partial: event.partial ?? this.#latest ?? blankReply(this.#run) });
    this.#latest = update.partial;
    this.#queue(update);
    if (isDelta(update) && update.type !== "toolcall_delta") this.#watch(update);
  }

  /** Deltas of one block that nobody has seen yet become one. */
  #queue(update: Update): void {
    const same = (other: Update) =>
      !isDelta(other) || (isDelta(update) && other.type === update.type && other.contentIndex === update.contentIndex);
    const at = this.#backlog.findLastIndex(same);
    const waiting = this.#backlog[at];
    const merged = isDelta(update) && isDelta(waiting);
    if (merged) this.#backlog.splice(at, 1);
    this.#backlog.push(merged ? { ...update, delta: waiting.delta + update.delta } : update);
  }

  /** Gives calls their final ids before anything else sees them (C10). */
  #withIds(update: Update): Update {
    if (update.type === "start") return update;
    const { type, contentIndex, partial: given } = update;
    const call = type === "toolcall_start" ? update : type === "toolcall_end" ? update.toolCall : undefined;
    if (call && !this.#ids.has(contentIndex)) this.#ids.set(contentIndex, this.#run.ids.claim(call.id));
    const id = this.#ids.get(contentIndex) ?? "";
    this.#renamed ||= call !== undefined && call.id !== id;
    if (!this.#renamed) return update;
    const finalId = (block: ToolCall, at: number) => ({ ...block, id: this.#ids.get(at) ?? block.id });
    const content = given.content.map((block, at) => (block.type === "toolCall" ? finalId(block, at) : block));
    const partial = { ...given, content };
    if (type === "toolcall_start") return { ...update, id, partial };
    return type === "toolcall_end"
      ? { ...update, toolCall: { ...update.toolCall, id }, partial }
      : { ...update, partial };
  }

  /** Ends a reply that says one and the same thing over and over (report R009). */
  #watch({ contentIndex, delta, partial }: Delta): void {
    if (this.#watched.index !== contentIndex) this.#watched = { index: contentIndex, text: new RepeatedText() };
    const length = this.#watched.text.add(delta);
    if (length === undefined) return;
    const content = partial.content.map((block, index) => {
      if (index !== contentIndex || block.type === "toolCall") return block;
      if (block.type === "text") return { ...block, text: cutRepeats(block.text, length) };
      return { ...block, thinking: cutRepeats(block.thinking, length) };
    });
    this.#latest = { ...partial, content };
    this.#end(REPEATED);
  }
}
