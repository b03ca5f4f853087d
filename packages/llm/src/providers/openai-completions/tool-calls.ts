import type { AssistantAssembler } from "../../stream/assembler.ts";
import { isRecord } from "../../stream/json.ts";
import { argumentText, CallArguments } from "../reply/call-arguments.ts";
import type { CallNames } from "../reply/call-names.ts";

interface Call {
  id: string;
  name: string;
  args: CallArguments;
  open: boolean;
  /** Gemini's thought signature, which must go back with the call. */
  signature: string | undefined;
}

/** What one entry of a delta says; empty texts for what it leaves out. `position`: its place in the delta. */
interface Piece {
  id: string;
  name: string;
  /** Something is said of the arguments. */
  hasArgs: boolean;
  position: number;
}

/**
 * Sorts pieces of tool calls to their calls (R026). Servers of this API leave out the index or give all calls the same
 * one, send the id late, empty, twice or never, and the name late or in pieces; so a call is opened with its first
 * piece of arguments, or when something else comes, and has an id of ours when it has none by then.
 */
export class ToolCallSorter {
  readonly #assembler: AssistantAssembler;
  readonly #names: CallNames;
  readonly #calls: Call[] = [];
  /** How many of the calls are known to be open, from the first on. */
  #opened = 0;
  readonly #byIndex = new Map<unknown, Call>();
  readonly #byId = new Map<string, Call>();

  constructor(assembler: AssistantAssembler, names: CallNames) {
    this.#assembler = assembler;
    this.#names = names;
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
    for (let at = this.#opened; at < this.#calls.length; at += 1) {
      const call = this.#calls[at];
      if (!call) return;
      if (!call.open && call.name !== "") this.#open(call);
      if (call.open && at === this.#opened) this.#opened += 1;
      if (call === upTo) return;
    }
  }

  /** Opens and ends all calls, at the end of the reply; one that never got a name is a call all the same. */
  finish(): void {
    for (const call of this.#calls) if (!call.open) this.#open(call);
    for (const call of this.#calls) call.args.close();
  }

  #entry(entry: Record<string, unknown>, position: number): void {
    const fn = isRecord(entry.function) ? entry.function : entry;
    const id = text(entry.id);
    const name = text(fn.name);
    const args = argumentText(fn.arguments);
    if (id === "" && name === "" && args === "" && this.#calls.length === 0) return;
    const call = this.#find(entry.index, { id, name, hasArgs: args !== "", position });
    if (id !== "" && !call.open && call.id === "") {
      call.id = id;
      this.#byId.set(id, call);
    }
    if (name !== "" && !call.open) call.name = joinName(call.name, name);
    call.signature ??= thoughtSignature(entry);
    if (args === "") return;
    const stated = typeof fn.arguments !== "string";
    if (!stated || !call.args.begun) call.args.add(args);
    if (stated) call.args.state(args);
    // Calls keep the order in which they came.
    if (!call.open && call.name !== "") this.openNamed(call);
  }

  #find(index: unknown, piece: Piece): Call {
    const known = index === undefined || index === null ? this.#unindexed(piece) : this.#byIndex.get(index);
    if (known && !startsAnother(known, piece)) return known;
    const args = new CallArguments(this.#assembler);
    const call: Call = { id: piece.id, name: "", args, open: false, signature: undefined };
    this.#calls.push(call);
    if (piece.id !== "") this.#byId.set(piece.id, call);
    if (index !== undefined && index !== null) this.#byIndex.set(index, call);
    return call;
  }

  /** A piece without an index belongs to the call of its id, else to the last one. */
  #unindexed({ id, name, position }: Piece): Call | undefined {
    const last = this.#calls.at(-1);
    if (id !== "") {
      const same = this.#byId.get(id);
      if (same) return same;
      if (last?.id) return undefined;
    }
    // Entries side by side in one delta are different calls; a name after arguments begins the next call.
    if (name !== "" && (position > 0 || last?.args.any)) return undefined;
    return last;
  }

  #open(call: Call): void {
    call.open = true;
    call.args.attach(
      this.#assembler.openToolCall({
        id: this.#names.claimId([call.id]),
        name: this.#names.ownName(call.name),
        ...(call.signature === undefined ? {} : { thoughtSignature: call.signature }),
      }),
    );
  }
}

/** Whether a piece with an id or name of its own begins the next call, though it has the index of this one. */
function startsAnother(call: Call, { id, name, hasArgs }: Piece): boolean {
  if (name === "" || call.name === "" || (id !== "" && id === call.id)) return false;
  const { any, whole } = call.args;
  // Some servers repeat the name with a fresh id on every piece: then the arguments are not whole yet.
  if (id !== "" && call.id !== "") return !any || whole !== "no";
  // Without ids the name tells, behind whole arguments; the same name alone is only repeated.
  return whole === "yes" ? hasArgs || name !== call.name : whole === "maybe" && name !== call.name;
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
