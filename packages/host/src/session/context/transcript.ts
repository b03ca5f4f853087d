import { type AgentMessage, brokenReplyResults } from "@tau/agent";
import type { AssistantMessage, ImageContent, TextContent } from "@tau/llm";
import type { Entry, EntryDraft } from "../../store/entries.ts";
import type { Projection, SessionStore } from "../../store/session-store.ts";
import type { Notice } from "../run/failure.ts";
import { isEmptyReply, isUsableReply } from "../run/reply-verdict.ts";
import { foldStats, NO_STATS, type StatsState } from "../usage/stats.ts";
import { addToMeter, type ContextMeter, type CountTokens, contextTokens, reportedTokens } from "./tokens.ts";

const IMAGE_NOTE = "[An image stood here. The provider could not process it, so it was taken out.]";

/**
 * The session on disk as the supervisor works with it: every entry goes through here, and sums and the context meter
 * follow entry by entry (law O1).
 */
export class Transcript {
  readonly store: SessionStore;
  readonly #count: CountTokens;
  #meter: ContextMeter = { estimated: 0, tail: 0 };
  /** Made when first asked for: a long session is not summed up before its first request. */
  #stats: StatsState | undefined;
  /** The newest reply, empty ones before it, and what the loop added: what is hidden when the reply was a failure. */
  #attempt: string[] = [];
  #empty = false;
  /** Calls of the newest reply when it broke off: what closes them is not written, see `brokenReplyResults`. */
  #brokenCalls: ReadonlySet<string> = new Set();
  /** Results of such calls that an older version wrote; hidden before the session continues. */
  #strayResults: string[] = [];

  /** The disk took no entries when one was added last. */
  #failing = false;
  readonly #say: (notice: Notice) => void;

  /** @param say called when the session is not being saved, and when it is again (law F11) */
  constructor(store: SessionStore, count: CountTokens, say: (notice: Notice) => void = () => undefined) {
    this.store = store;
    this.#count = count;
    this.#say = say;
  }

  /** Tokens in the context now. */
  get tokens(): number {
    return contextTokens(this.#meter);
  }

  get meter(): ContextMeter {
    return this.#meter;
  }

  stats(): StatsState {
    this.#stats ??= this.store.entries().reduce(foldStats, NO_STATS);
    return this.#stats;
  }

  append(draft: EntryDraft): Entry {
    const entry = this.store.append(draft);
    if (this.#stats) this.#stats = foldStats(this.#stats, entry);
    this.#watchRecording();
    return entry;
  }

  #watchRecording(): void {
    const failing = this.unsaved;
    if ((failing !== undefined) === this.#failing) return;
    this.#failing = failing !== undefined;
    this.#say(failing ?? { code: "saved_again", params: {} });
  }

  /** What there is to say while the session is not being saved. */
  get unsaved(): Notice | undefined {
    const { recording } = this.store;
    if (recording.status !== "failing") return undefined;
    const { reason, unsaved } = recording;
    return { code: "not_saved", params: { reason, unsaved } };
  }

  /**
   * The entry of a message of the loop: before anybody else hears of it (laws L5, F2).
   * @param queueId of a message that enters while messages are queued
   */
  record(message: AgentMessage, modelId: string, queueId?: string): void {
    this.#meter = addToMeter(this.#meter, message, this.#count(message, modelId));
    this.#hideStrayResults();
    if (message.role === "assistant")
      this.#brokenCalls = new Set(brokenReplyResults(message).map(({ toolCallId }) => toolCallId));
    if (message.role === "toolResult" && this.#brokenCalls.has(message.toolCallId)) return;
    const draft = messageDraft(message);
    const entry = draft && this.append(queueId === undefined ? draft : { ...draft, queueId });
    if (!entry) return;
    if (message.role === "assistant") {
      this.#attempt = this.#empty ? [...this.#attempt, entry.id] : [entry.id];
      this.#empty = isEmptyReply(message);
    } else if (message.role === "toolResult" || message.role === "custom") this.#attempt.push(entry.id);
    else if (message.role === "user") this.#forgetAttempt();
  }

  #forgetAttempt(): string[] {
    this.#empty = false;
    return this.#attempt.splice(0);
  }

  /** Takes the newest reply and the results that go with it out of what the model sees (law F8). False when that is done. */
  hideAttempt(): boolean {
    const hidden = this.#forgetAttempt();
    for (const targetId of hidden) this.append({ type: "context_edit", targetId, replacement: null });
    return hidden.length > 0;
  }

  /** Readers that leave out a reply that broke off would send these results without their calls. */
  #hideStrayResults(): void {
    for (const targetId of this.#strayResults.splice(0)) {
      this.append({ type: "context_edit", targetId, replacement: null });
    }
  }

  /** What the agent continues with, read back from the store: what a resume would give. */
  load(modelId: string): Projection {
    const projection = this.store.projection();
    this.#meter = this.#measure(projection, modelId);
    this.#strayResults = projection.strayResults;
    return projection;
  }

  hasImages(): boolean {
    return this.store.projection().messages.some(holdsImage);
  }

  /** Puts a note in the place of the images that came since the last usable reply, or of all when there are none (R056). */
  dropImages(): void {
    const { messages, entryIds } = this.store.projection();
    const since = messages.findLastIndex((message) => message.role === "assistant" && isUsableReply(message)) + 1;
    const from = messages.slice(since).some(holdsImage) ? since : 0;
    for (let index = from; index < messages.length; index++) {
      const replacement = withoutImages(messages[index]);
      const targetId = entryIds[index];
      if (replacement && targetId !== undefined) this.append({ type: "context_edit", targetId, replacement });
    }
  }

  /** From the end back to the newest reply that a provider counted; what a compaction left counts anew. */
  #measure({ system, messages, entryIds }: Projection, modelId: string): ContextMeter {
    const compacted = messages[0]?.role === "compactionSummary" ? this.#since(entryIds[0]) : undefined;
    let tail = 0;
    for (let index = messages.length - 1; index >= 0; index--) {
      const message = messages[index];
      if (!message) continue;
      const fresh = compacted === undefined || compacted.has(entryIds[index] ?? "");
      const reported = message.role === "assistant" && fresh ? countedBy(message) : undefined;
      if (reported !== undefined) return { estimated: reported + tail, reported, tail };
      tail += this.#count(message, modelId);
    }
    const estimated = tail + (system ? this.#count(system, modelId) : 0);
    return { estimated, tail: estimated };
  }

  /** The entries of the branch behind one of them. Their order tells, never a clock (report R220). */
  #since(entryId: string | undefined): ReadonlySet<string> {
    const ids = new Set<string>();
    for (let id = this.store.leafId; id !== null && id !== entryId; id = this.store.entry(id)?.parentId ?? null)
      ids.add(id);
    return ids;
  }
}

function countedBy(message: AssistantMessage): number | undefined {
  const failed = message.stopReason === "error" || message.stopReason === "aborted";
  return failed ? undefined : reportedTokens(message.usage);
}

function imageBlocks(message: AgentMessage | undefined): (TextContent | ImageContent)[] | undefined {
  if (!message || !("content" in message) || message.role === "assistant" || message.role === "system")
    return undefined;
  return typeof message.content === "string" ? undefined : message.content;
}

function holdsImage(message: AgentMessage): boolean {
  return imageBlocks(message)?.some((block) => block.type === "image") ?? false;
}

/** The content with each image replaced by a note; undefined when it has none. */
function withoutImages(message: AgentMessage | undefined): (TextContent | ImageContent)[] | undefined {
  const blocks = imageBlocks(message);
  if (!blocks?.some((block) => block.type === "image")) return undefined;
  return blocks.map((block) => (block.type === "image" ? { type: "text", text: IMAGE_NOTE } : block));
}

/** What a message of the loop is written as. */
type MessageDraft = Extract<EntryDraft, { type: "message" | "custom_message" }>;

/** The entry of a message: its `message_end` is the only trigger (law F2). Undefined for the two roles that are views of entries of their own. */
function messageDraft(message: AgentMessage): MessageDraft | undefined {
  switch (message.role) {
    case "compactionSummary":
    case "branchSummary":
      return undefined;
    case "custom": {
      const { customType, content, display, details } = message;
      const draft = { type: "custom_message", customType, content, display } as const;
      return details === undefined ? draft : { ...draft, details };
    }
    default:
      return { type: "message", message };
  }
}
