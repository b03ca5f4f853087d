import { type AgentMessage, brokenReplyResults } from "@tau/agent";
import type { SystemMessage } from "@tau/llm";
import { EMPTY_HEAD, headMessage, replayHead } from "@tau/llm/head";
import { assertNever } from "../platform/assert-never.ts";
import { editedMessage, editsOf } from "./context-edit.ts";
import type { CompactionEntry, Entry } from "./entries.ts";
import { type EntryTree, NONE } from "./entry-tree.ts";
import type { Projection } from "./session-store.ts";

/**
 * What the model sees at a leaf (laws F5, F6, F8): from the newest compaction on the path its checkpoint, its summary
 * and the entries from `firstKeptEntryId` on; without one, the whole path. Costs what it shows, not what the file holds.
 */
export function project(tree: EntryTree, leaf: number): Projection {
  const state = tree.stateAt(leaf);
  const projection: Projection = { messages: [], entryIds: [], strayResults: [], ...choiceAt(tree, leaf) };
  const writer = new ProjectionWriter(tree, leaf, projection);
  const compaction = writer.read(state.compaction);
  if (compaction?.type === "compaction") writer.addCompacted(compaction, state.compaction);
  for (const index of tree.path(leaf, state.compaction)) writer.addEntry(index);
  writer.finish();
  return projection;
}

/** Model and level that hold at a leaf. */
export function choiceAt(tree: EntryTree, leaf: number): Pick<Projection, "model" | "thinkingLevel"> {
  const { model, thinkingLevel } = tree.stateAt(leaf);
  return { ...(model && { model: { ...model } }), ...(thinkingLevel !== undefined && { thinkingLevel }) };
}

/** Builds one projection: which entries are shown is decided by `project`, how each is shown here. */
class ProjectionWriter {
  readonly #tree: EntryTree;
  readonly #out: Projection;
  readonly #current: boolean;
  readonly #edits: Map<string, number>;
  /** System messages before the first other message. */
  readonly #head: SystemMessage[] = [];
  /** Calls of assistant messages that an edit took away: their results would be orphans. */
  readonly #hiddenCalls = new Set<string>();
  /** Calls of replies that broke off: their results follow from the reply, stored ones count for nothing. */
  readonly #brokenCalls = new Set<string>();

  constructor(tree: EntryTree, leaf: number, out: Projection) {
    this.#tree = tree;
    this.#out = out;
    this.#current = leaf === tree.leaf;
    this.#edits = editsOf(tree, leaf);
  }

  /** What the current leaf shows stays in memory, since it is in the agent's transcript too. */
  read(index: number): Entry | undefined {
    return this.#current ? this.#tree.warm(index) : this.#tree.entryAt(index);
  }

  /** The checkpoint, the summary, and what was kept of before. System messages of before are in the checkpoint. */
  addCompacted(compaction: CompactionEntry, index: number): void {
    const checkpoint = compaction.systemMessage ?? replaySystem(systemsUpTo(this.#tree, index));
    if (checkpoint) this.#head.push(checkpoint);
    this.#push(compaction.id, summaryMessage(compaction));
    const kept = firstKept(this.#tree, compaction, index);
    for (const at of this.#tree.path(index, kept - 1)) {
      const entry = at === index ? undefined : this.read(at);
      const dropped = entry?.type === "compaction" || (entry?.type === "message" && entry.message.role === "system");
      if (entry && !dropped) this.#add(entry);
    }
  }

  addEntry(index: number): void {
    const type = this.#tree.types[index];
    if (type === undefined || !SHOWN.has(type)) return;
    const entry = this.read(index);
    if (entry) this.#add(entry);
  }

  finish(): void {
    const system = replaySystem(this.#head);
    if (system) this.#out.system = system;
  }

  #add(entry: Entry): void {
    const message = messageOf(entry);
    if (!message) return;
    if (message.role === "system") {
      if (this.#out.messages.length === 0) this.#head.push(message);
      else this.#push(entry.id, message);
      return;
    }
    const shown = this.#edited(entry, message);
    if (!shown || this.#isOrphan(shown)) return;
    if (shown.role === "toolResult" && this.#brokenCalls.has(shown.toolCallId)) {
      this.#out.strayResults.push(entry.id);
      return;
    }
    this.#push(entry.id, shown);
    if (shown.role === "assistant") this.#closeCalls(shown);
  }

  #closeCalls(reply: Extract<AgentMessage, { role: "assistant" }>): void {
    const results = brokenReplyResults(reply);
    for (const result of results) {
      this.#brokenCalls.add(result.toolCallId);
      this.#push("", result);
    }
    if (results.length > 0 || this.#brokenCalls.size === 0) return;
    // Programs may use an id again.
    for (const block of reply.content) if (block.type === "toolCall") this.#brokenCalls.delete(block.id);
  }

  #edited(entry: Entry, message: AgentMessage): AgentMessage | undefined {
    const by = this.#edits.size > 0 ? this.#edits.get(entry.id) : undefined;
    const edit = by === undefined ? undefined : this.#tree.entryAt(by);
    const shown = edit?.type === "context_edit" ? editedMessage(message, edit.replacement) : message;
    if (message.role === "assistant") this.#noteCalls(message, shown === message);
    return shown;
  }

  #noteCalls(message: Extract<AgentMessage, { role: "assistant" }>, visible: boolean): void {
    if (visible && this.#hiddenCalls.size === 0) return;
    for (const block of message.content) {
      if (block.type !== "toolCall") continue;
      if (visible) this.#hiddenCalls.delete(block.id);
      else this.#hiddenCalls.add(block.id);
    }
  }

  #isOrphan(message: AgentMessage): boolean {
    return message.role === "toolResult" && this.#hiddenCalls.has(message.toolCallId);
  }

  #push(entryId: string, message: AgentMessage): void {
    this.#out.messages.push(message);
    this.#out.entryIds.push(entryId);
  }
}

const SHOWN: ReadonlySet<string> = new Set(["message", "branch_summary", "custom_message"]);

/** Number of the first entry that a compaction keeps; its own number when it keeps none or the entry is gone. */
export function firstKept(tree: EntryTree, compaction: CompactionEntry, index: number): number {
  const id = compaction.firstKeptEntryId;
  const found = typeof id === "string" ? tree.indexOf(id) : NONE;
  if (found !== NONE) return tree.path(index, found - 1)[0] === found ? found : index;
  const position = typeof id === "string" ? tree.positionOfLost(id) : NONE;
  return position === NONE ? index : Math.min(position, index);
}

function systemsUpTo(tree: EntryTree, index: number): SystemMessage[] {
  const systems: SystemMessage[] = [];
  for (let link = tree.stateAt(index).systems; link; link = link.previous) {
    const entry = tree.entryAt(link.entry);
    if (entry?.type === "message" && entry.message.role === "system") systems.push(entry.message);
  }
  return systems.reverse();
}

/** The message of an entry as the agent's transcript has it; undefined for entries outside the context. */
function messageOf(entry: Entry): AgentMessage | undefined {
  switch (entry.type) {
    case "message":
      return entry.message;
    case "branch_summary": {
      const { summary, fromId = null } = entry;
      return { role: "branchSummary", summary, fromId, timestamp: timeOf(entry) };
    }
    case "custom_message": {
      const { customType, content, display, details } = entry;
      const extra = details !== undefined && { details };
      return { role: "custom", customType, content, display, ...extra, timestamp: timeOf(entry) };
    }
    case "model_change":
    case "thinking_level_change":
    case "usage":
    case "compaction":
    case "context_edit":
    case "custom":
    case "label":
    case "session_info":
      return undefined;
    default:
      return assertNever(entry, undefined);
  }
}

function summaryMessage(entry: CompactionEntry): AgentMessage {
  const tokensBefore = typeof entry.tokensBefore === "number" ? entry.tokensBefore : 0;
  return {
    role: "compactionSummary",
    summary: entry.summary,
    tokensBefore,
    timestamp: timeOf(entry),
  };
}

/** Milliseconds since 1970; 0 when the file says nothing readable. */
function timeOf({ timestamp }: Entry): number {
  return Date.parse(timestamp) || 0;
}

/** System messages in one that says the same; a single one comes back as it is. Undefined for none. */
function replaySystem(messages: readonly SystemMessage[]): SystemMessage | undefined {
  const [first, ...rest] = messages;
  return first && (rest.length === 0 ? first : headMessage(replayHead(EMPTY_HEAD, messages), first.timestamp));
}
