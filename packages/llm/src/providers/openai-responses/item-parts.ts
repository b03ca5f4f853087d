import type { AssistantAssembler } from "../../stream/assembler.ts";
import type { CallNames } from "../reply/call-names.ts";
import type { ReplyText } from "../reply/reply-text.ts";

type Json = Record<string, unknown>;

/** One item of the output while it arrives. */
export interface Item {
  /** No more is taken from it. */
  readonly closed: boolean;
  /** The item as the server says it is in the end. */
  complete(item: Json): void;
  /** Ends it with what has arrived. */
  close(): void;
}

/** What items are made with. */
export interface ItemParts {
  assembler: AssistantAssembler;
  names: CallNames;
  texts: ReplyText;
}
