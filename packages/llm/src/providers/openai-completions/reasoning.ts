import type { AssistantAssembler } from "../../stream/assembler.ts";
import { isRecord, writeJson } from "../../stream/json.ts";

/** Names under which servers of this API send the reasoning as text; the first with a text counts, others repeat it. */
const TEXT_FIELDS = ["reasoning_content", "reasoning", "reasoning_text", "thinking"] as const;

/** Signatures of thinking that came as text in a field of that name. */
export const PLAIN_FIELDS: ReadonlySet<string> = new Set(TEXT_FIELDS);

/** Signature of thinking that came as a part of the content (Mistral). */
export const MISTRAL_THINKING = "content.thinking";

interface Detail {
  contentIndex: number;
  /** The entry without its text, pieces joined: what must go back with the text on the next request. */
  meta: Map<string, unknown>;
  closed: boolean;
}

/**
 * Reasoning of an answer as thinking blocks. A plain text field becomes one block whose signature is the name of the
 * field; entries of OpenRouter's `reasoning_details` become one block each, pieces merged by index (R040), with the
 * entry without its text as signature. So the text is kept once and can be sent back as it came.
 */
export class ReasoningSorter {
  readonly #assembler: AssistantAssembler;
  readonly #details = new Map<string, Detail>();
  readonly #open = new Set<Detail>();
  /** Ended blocks of which something came behind their end. */
  readonly #late = new Set<Detail>();
  #plain: number | undefined;

  constructor(assembler: AssistantAssembler) {
    this.#assembler = assembler;
  }

  /** Reads the reasoning of one delta, and gives whether there was any; `beforeOpen` is called before a block is opened. */
  delta(delta: Record<string, unknown>, beforeOpen: () => void): boolean {
    const details = Array.isArray(delta.reasoning_details) ? delta.reasoning_details : [];
    if (details.length > 0 && this.#list(details, beforeOpen)) return true;
    for (const field of TEXT_FIELDS) {
      const text = delta[field];
      if (typeof text !== "string" || text === "") continue;
      this.plain(field, text, beforeOpen);
      return true;
    }
    return details.length > 0;
  }

  /** A piece of reasoning text that came in a field of that name. */
  plain(field: string, text: string, beforeOpen: () => void): void {
    if (this.#plain === undefined) {
      beforeOpen();
      this.#plain = this.#assembler.openThinking({ signature: field });
    }
    this.#assembler.thinkingDelta(this.#plain, text);
  }

  /** Ends the open blocks, before a block of another kind. */
  close(): void {
    if (this.#plain !== undefined) this.#assembler.closeBlock(this.#plain);
    this.#plain = undefined;
    for (const detail of this.#open) {
      this.#sign(detail);
      this.#assembler.closeBlock(detail.contentIndex);
      detail.closed = true;
    }
    this.#open.clear();
  }

  /** Ends the open blocks, and signs those whose signature came in pieces behind their end: once, at the end (R305). */
  finish(): void {
    this.close();
    for (const detail of this.#late) this.#sign(detail);
    this.#late.clear();
  }

  /** Details nested too deep to be written cannot go back, so they are left out (R307). */
  #sign({ contentIndex, meta }: Detail): void {
    const signature = writeJson(Object.fromEntries(meta));
    if (signature !== undefined) this.#assembler.setSignature(contentIndex, signature);
  }

  /** Reads the entries of one delta; true when they had visible text, which a plain field then only repeats. */
  #list(entries: readonly unknown[], beforeOpen: () => void): boolean {
    const details = entries.filter(isRecord);
    for (const detail of details) this.#detail(detail, beforeOpen);
    return details.some((detail) => visibleText(detail) !== "");
  }

  #detail(entry: Record<string, unknown>, beforeOpen: () => void): void {
    const key = `${String(entry.type)} ${String(entry.index ?? 0)}`;
    const text = visibleText(entry);
    let detail = this.#details.get(key);
    if (!detail || (detail.closed && text !== "")) {
      beforeOpen();
      const redacted = entry.type === "reasoning.encrypted";
      const contentIndex = this.#assembler.openThinking({ redacted });
      detail = { contentIndex, meta: new Map(), closed: false };
      this.#details.set(key, detail);
      this.#open.add(detail);
    }
    mergeMeta(detail.meta, entry);
    if (text !== "") this.#assembler.thinkingDelta(detail.contentIndex, text);
    // The signature of a text may come when the answer has begun already.
    if (detail.closed) this.#late.add(detail);
  }
}

function visibleText(entry: Record<string, unknown>): string {
  const text = entry.type === "reasoning.summary" ? entry.summary : entry.text;
  return typeof text === "string" ? text : "";
}

function mergeMeta(meta: Map<string, unknown>, entry: Record<string, unknown>): void {
  for (const [name, value] of Object.entries(entry)) {
    if (name === "text" || name === "summary" || value === null || value === undefined) continue;
    const known = meta.get(name);
    const grows = (name === "data" || name === "signature") && typeof known === "string" && typeof value === "string";
    meta.set(name, grows ? known + value : value);
  }
}
