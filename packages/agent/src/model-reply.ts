import type { AssistantMessageEvent, AssistantMessageEventStream } from "@tau/llm";
import { cutBlock, RepeatedText } from "./repetition.ts";
import { type Delta, Draft, isDelta, isUpdate, type Update } from "./reply-draft.ts";
import type { RunContext } from "./run-context.ts";
import { blankReply, type Ending, failure, UNEXPLAINED } from "./sound-reply.ts";
import { tick } from "./tick.ts";
import { isRecord } from "./values.ts";

const REPEATED: Ending = { stopReason: "length", errorMessage: "Stopped: the reply repeated one text over and over." };
const BROKEN_OFF = { ...failure("The stream ended before the reply was complete."), errorKind: "retryable" };

/**
 * Reads one reply to its end and shows it as message_start and message_update (laws S2–S6). While a slow listener is
 * awaited it reads on and merges deltas, so that the backlog stays bounded. It always settles with a message.
 */
export class ReplyReader {
  readonly #run: RunContext;
  #iterator: AsyncIterator<AssistantMessageEvent> | undefined;
  readonly #backlog: Update[] = [];
  readonly draft: Draft;
  #outcome: object | undefined;
  started = false;
  #over = false;
  #reading: Promise<void> | undefined;
  #watched = { index: -1, text: new RepeatedText() };

  constructor(run: RunContext) {
    this.#run = run;
    this.draft = new Draft(blankReply(run.config.model, run.now()), run.ids);
  }

  async read(stream: AssistantMessageEventStream): Promise<object> {
    this.#iterator = stream[Symbol.asyncIterator]();
    await this.#run.cutoff.race(() => this.#readAll(), "grace");
    this.#over = true;
    // A reply that was cut would continue for nobody (report R338).
    stream.cancel?.();
    // A generator that hangs would never answer: nobody waits for it.
    (async () => this.#iterator?.return?.())().catch(() => undefined);
    return this.#outcome ?? { ...this.draft.message, ...BROKEN_OFF };
  }

  async #readAll(): Promise<void> {
    for (;;) {
      // An abort overtakes what was not shown yet (S6).
      const event = this.#run.cutoff.signal.aborted ? undefined : this.#backlog.shift();
      if (event) await this.#show(event);
      else if (this.#over) return;
      else await this.#readOne();
    }
  }

  #show(update: Update): void | Promise<void> {
    const { type, partial: message } = update;
    let shown = this.started ? undefined : this.#run.emit({ type: "message_start", message });
    this.started = true;
    if (type !== "start") shown = this.#run.emit({ type: "message_update", message, assistantMessageEvent: update });
    return shown && this.#readWhile(shown);
  }

  /** Listeners that need real time, not only promises, do not stop the reading. */
  async #readWhile(shown: Promise<void>): Promise<void> {
    const seen = shown.then(() => true);
    let done = await Promise.race([seen, tick().then(() => false)]);
    while (!done && !this.#over) done = await Promise.race([seen, this.#readOne().then(() => false)]);
    await shown;
  }

  #readOne(): Promise<void> {
    const read = async () => {
      const step = await this.#iterator?.next();
      if (!step || step.done) this.#over = true;
      else if (!this.#over) this.#accept(step.value);
    };
    this.#reading ??= read()
      .catch((error: unknown) => this.#end(this.draft.message, failure(error)))
      .finally(() => {
        this.#reading = undefined;
      });
    return this.#reading;
  }

  #end(message: object | undefined, ending = {}): void {
    this.#outcome = message && { ...message, ...ending };
    this.#over = true;
  }

  #accept(event: AssistantMessageEvent): void {
    if (!isRecord(event)) return;
    if (event.type === "done" || event.type === "error") {
      const message = event.type === "done" ? event.message : event.error;
      // An error is one, whatever stop its message bears.
      const ending = event.type === "done" || /error|aborted/.test(message?.stopReason) ? {} : UNEXPLAINED;
      this.#end(isRecord(message) ? message : undefined, ending);
    }
    if (this.#over || !isUpdate(event)) return;
    const update = this.draft.take(event);
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

  /** Ends a reply that says one and the same thing over and over (report R009). */
  #watch({ contentIndex, delta, partial }: Delta): void {
    if (this.#watched.index !== contentIndex) this.#watched = { index: contentIndex, text: new RepeatedText() };
    const length = this.#watched.text.add(delta);
    const cut = length && cutBlock(partial.content[contentIndex], length);
    if (cut) this.#end({ ...partial, content: partial.content.with(contentIndex, cut) }, REPEATED);
  }
}
