import type { Tool } from "../../protocol/tool.ts";
import type { AssistantAssembler } from "../../stream/assembler.ts";
import { isRecord } from "../../stream/json.ts";
import { ownToolName } from "../history/wire-names.ts";
import { ObjectEnd } from "./object-end.ts";

interface Call {
  id: string;
  name: string;
  /** Arguments that came before the call could be opened. */
  held: string;
  /** Set once the call is open. */
  contentIndex: number | undefined;
  /** Tells whether the arguments are a whole object already. */
  end: ObjectEnd;
  begun: boolean;
  /** Gemini's thought signature, which must go back with the call. */
  signature: string | undefined;
}

/** What one entry of a delta says; empty texts for what it leaves out. `position`: its place in the delta. */
interface Piece {
  id: string;
  name: string;
  args: string;
  position: number;
}

/**
 * Sorts pieces of tool calls to their calls (R026). Servers of this API leave out the index or give all calls the same
 * one, send the id late, empty, twice or never, and the name late or in pieces; so a call is opened with its first
 * piece of arguments, or when something else comes, and has an id of ours when it has none by then.
 */
export class ToolCallSorter {
  readonly #assembler: AssistantAssembler;
  readonly #tools: readonly Tool[];
  readonly #calls: Call[] = [];
  readonly #byIndex = new Map<unknown, Call>();
  readonly #usedIds = new Set<string>();

  constructor(assembler: AssistantAssembler, tools: readonly Tool[]) {
    this.#assembler = assembler;
    this.#tools = tools;
  }

  /** True when a call has begun, open or not. */
  get any(): boolean {
    return this.#calls.length > 0;
  }

  /** The `tool_calls` of one delta, or of a whole message. */
  delta(entries: readonly unknown[]): void {
    for (const [position, entry] of entries.entries()) {
      if (isRecord(entry)) this.#entry(entry, position);
    }
  }

  /** Opens the calls that have a name, all or those up to one: before a block of another kind, or as they begin. */
  openNamed(upTo?: Call): void {
    for (const call of this.#calls) {
      if (call.contentIndex === undefined && call.name !== "") this.#open(call);
      if (call === upTo) return;
    }
  }

  /** Opens all calls, at the end of the answer; one that never got a name is a call all the same. */
  finish(): void {
    for (const call of this.#calls) if (call.contentIndex === undefined) this.#open(call);
  }

  #entry(entry: Record<string, unknown>, position: number): void {
    const fn = isRecord(entry.function) ? entry.function : entry;
    const id = text(entry.id);
    const name = text(fn.name);
    const args = argumentText(fn.arguments);
    if (id === "" && name === "" && args === "" && this.#calls.length === 0) return;
    const call = this.#find(entry.index, { id, name, args, position });
    if (id !== "" && call.contentIndex === undefined && call.id === "") call.id = id;
    if (name !== "" && call.contentIndex === undefined) call.name = joinName(call.name, name);
    call.signature ??= thoughtSignature(entry);
    if (args !== "") this.#grow(call, args);
  }

  #find(index: unknown, piece: Piece): Call {
    const known = index === undefined || index === null ? this.#unindexed(piece) : this.#byIndex.get(index);
    if (known && !startsAnother(known, piece)) return known;
    const call: Call = {
      id: piece.id,
      name: "",
      held: "",
      contentIndex: undefined,
      end: new ObjectEnd(),
      begun: false,
      signature: undefined,
    };
    this.#calls.push(call);
    if (index !== undefined && index !== null) this.#byIndex.set(index, call);
    return call;
  }

  /** A piece without an index belongs to the call of its id, else to the last one. */
  #unindexed({ id, name, position }: Piece): Call | undefined {
    if (id !== "") {
      const same = this.#calls.findLast((call) => call.id === id);
      if (same) return same;
      if (this.#calls.at(-1)?.id) return undefined;
    }
    const last = this.#calls.at(-1);
    // Entries side by side in one delta are different calls; a name after arguments begins the next call.
    if (name !== "" && (position > 0 || last?.begun)) return undefined;
    return last;
  }

  #grow(call: Call, args: string): void {
    call.begun = true;
    call.end.feed(args);
    if (call.contentIndex === undefined) call.held += args;
    else this.#assembler.argumentsDelta(call.contentIndex, args);
    if (call.contentIndex === undefined && call.name !== "") {
      // Calls keep the order in which they came.
      this.openNamed(call);
    }
  }

  #open(call: Call): void {
    const id = call.id === "" || this.#usedIds.has(call.id) ? newId() : call.id;
    this.#usedIds.add(id);
    call.contentIndex = this.#assembler.openToolCall({
      id,
      name: ownToolName(call.name, this.#tools),
      ...(call.signature === undefined ? {} : { thoughtSignature: call.signature }),
    });
    if (call.held !== "") this.#assembler.argumentsDelta(call.contentIndex, call.held);
    call.held = "";
  }
}

/** Whether a piece with an id or name of its own begins the next call, though it has the index of this one. */
function startsAnother(call: Call, { id, name, args }: Piece): boolean {
  if (name === "" || call.name === "" || (id !== "" && id === call.id)) return false;
  // Some servers repeat the name with a fresh id on every piece: then the arguments are not whole yet.
  if (id !== "" && call.id !== "") return !call.begun || call.end.reached;
  // Without ids the name tells, behind whole arguments; the same name alone is only repeated.
  return call.end.reached && (args !== "" || name !== call.name);
}

/** A name that comes in pieces is put together; one that is repeated, or repeated longer, is taken as it is. */
function joinName(known: string, piece: string): string {
  return piece.startsWith(known) ? piece : known + piece;
}

function thoughtSignature(entry: Record<string, unknown>): string | undefined {
  const extra = isRecord(entry.extra_content) ? entry.extra_content.google : undefined;
  return isRecord(extra) && typeof extra.thought_signature === "string" ? extra.thought_signature : undefined;
}

function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function argumentText(value: unknown): string {
  if (typeof value === "string") return value;
  return value === undefined || value === null ? "" : JSON.stringify(value);
}

function newId(): string {
  const part = () => Math.random().toString(36).slice(2, 12).padEnd(10, "0");
  return `call_${part()}${part()}`;
}
