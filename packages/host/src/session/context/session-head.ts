import type { SystemMessage, Tool } from "@tau/llm";
import { EMPTY_HEAD, foldHead, type Head, headMessage, headPatch, type PromptSections, promptText } from "./head.ts";

/** Prompt and tools of a session: what the model was told, and what holds now (law B8). */
export class SessionHead {
  #told: Head = EMPTY_HEAD;
  #sections: PromptSections;
  #tools: readonly Tool[];

  constructor(sections: PromptSections, tools: readonly Tool[]) {
    this.#sections = sections;
    this.#tools = tools;
  }

  /** The prompt that the model was told, as one text. */
  get promptText(): string {
    return promptText(this.#told);
  }

  want(sections: PromptSections, tools: readonly Tool[]): void {
    this.#sections = sections;
    this.#tools = tools;
  }

  wantTools(tools: readonly Tool[]): void {
    this.#tools = tools;
  }

  /** Takes over what a transcript says was told. */
  replay(told: Head): void {
    this.#told = told;
  }

  /** Notes a message that the model is told by. */
  tell(message: SystemMessage): void {
    this.#told = foldHead(this.#told, message);
  }

  /** The first message of a new session. */
  first(timestamp: number): SystemMessage {
    return headMessage(this.#sections, this.#tools, timestamp);
  }

  /** What has to be told before the next request; undefined when the model knows everything. */
  change(timestamp: number): SystemMessage | undefined {
    return headPatch(this.#told, { sections: this.#sections, tools: this.#tools }, timestamp);
  }

  /** All that was told, in one message: the checkpoint of a compaction. */
  checkpoint(timestamp: number): SystemMessage {
    const { content, sections, tools } = this.#told;
    return { ...headMessage(sections, tools, timestamp), content };
  }
}
