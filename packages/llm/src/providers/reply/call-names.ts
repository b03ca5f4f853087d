import type { Tool } from "../../protocol/tool.ts";
import { ownToolName } from "../history/wire-names.ts";

/** Of gpt-oss and Kimi, of Gemini. */
const NAMESPACE = /^(?:functions|default_api)[.:]/;
const NUMBERED = /:\d{1,6}$/;

/** Ids and names of the calls of one reply. */
export class CallNames {
  readonly #tools: readonly Tool[];
  readonly #prefix: string;
  readonly #used = new Set<string>();

  /** @param prefix of ids that are made here, as the vendor's own ids begin */
  constructor(tools: readonly Tool[], prefix: "call_" | "toolu_") {
    this.#tools = tools;
    this.#prefix = prefix;
  }

  /** True when the request has tools, so that a call can be meant. */
  get expected(): boolean {
    return this.#tools.length > 0;
  }

  /** The first id that is free, or one of ours: unique in the reply and never empty (R026). */
  claimId(candidates: readonly unknown[]): string {
    const free = candidates.find((id): id is string => typeof id === "string" && id !== "" && !this.#used.has(id));
    const id = free ?? this.#newId();
    this.#used.add(id);
    return id;
  }

  /** The tool that is meant by the name on the wire, without what a model's markers leave on it (R208). */
  ownName(wireName: string): string {
    const own = ownToolName(wireName, this.#tools);
    if (this.#has(own)) return own;
    const marker = wireName.indexOf("<|");
    const bare = (marker < 0 ? wireName : wireName.slice(0, marker)).trim();
    const plain = bare.replace(NAMESPACE, "");
    const known = [bare, plain, plain.replace(NUMBERED, "")]
      .map((name) => ownToolName(name, this.#tools))
      .find((name) => this.#has(name));
    if (known !== undefined) return known;
    return bare === "" ? wireName : bare;
  }

  #has(name: string): boolean {
    return this.#tools.some((tool) => tool.name === name);
  }

  #newId(): string {
    const part = () => Math.random().toString(36).slice(2, 12).padEnd(10, "0");
    return `${this.#prefix}${part()}${part()}`;
  }
}
