import type { AssistantAssembler } from "../../stream/assembler.ts";
import { argumentText, CallArguments } from "../reply/call-arguments.ts";
import type { CallNames } from "../reply/call-names.ts";
import type { Item, ItemParts } from "./item-parts.ts";

type Json = Record<string, unknown>;

const CUT = "The answer ended before the arguments of this call were whole";

/**
 * A function call. Its arguments count when the server has said them whole, by `arguments.done`, the item or the final
 * output; pieces alone count when they are a whole object, else the call must fail (R031).
 */
export class CallItem implements Item {
  readonly kind = "function_call" as const;
  readonly #assembler: AssistantAssembler;
  readonly #names: CallNames;
  readonly #callIds: unknown[] = [];
  readonly #itemIds: unknown[] = [];
  readonly #args: CallArguments;
  #name = "";
  /** Arguments that came with the announcement: some servers send them there, some there and in pieces. */
  #announced = "";
  #open = false;
  #closed = false;

  constructor({ assembler, names }: ItemParts, item: Json) {
    this.#assembler = assembler;
    this.#names = names;
    this.#args = new CallArguments(assembler);
    this.#announced = argumentText(item.arguments);
    this.#note(item);
  }

  get closed(): boolean {
    return this.#closed;
  }

  delta(piece: string): void {
    if (!this.#closed) this.#args.add(piece);
  }

  /** The server has said the arguments whole. */
  done(event: Json): void {
    if (this.#closed) return;
    this.#note({ name: event.name });
    this.#args.state(argumentText(event.arguments));
  }

  complete(item: Json): void {
    if (this.#closed) return;
    this.#note(item);
    this.done({ arguments: item.arguments });
    this.close();
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#openCall();
    if (!this.#args.begun && this.#announced !== "") this.#args.add(this.#announced);
    this.#args.close(CUT);
  }

  /** Opens the call as soon as its name is known; by then most servers have told its id as well. */
  #note(item: Json): void {
    if (this.#open) return;
    this.#callIds.push(item.call_id);
    this.#itemIds.push(item.id);
    if (typeof item.name !== "string" || item.name === "") return;
    this.#name = item.name;
    this.#openCall();
  }

  #openCall(): void {
    if (this.#open) return;
    this.#open = true;
    const id = this.#names.claimId([...this.#callIds, ...this.#itemIds]);
    this.#args.attach(this.#assembler.openToolCall({ id, name: this.#names.ownName(this.#name) }));
  }
}
