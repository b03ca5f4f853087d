import type { AgentTool } from "@tau/agent";
import type { SystemMessage } from "@tau/llm";
import {
  EMPTY_HEAD,
  foldHead,
  type Head,
  headChange,
  headMessage,
  headOf,
  type PromptSections,
  promptText,
} from "@tau/llm/head";

type Prompt = string | { readonly sections: PromptSections };

/** Prompt and tools of a session: what the model was told, and what is wanted now (law B8). */
export class SessionHead {
  #told: Head = EMPTY_HEAD;
  #wanted: Head;
  #tools: readonly AgentTool[];

  constructor(prompt: Prompt, tools: readonly AgentTool[]) {
    this.#wanted = headOf(prompt, tools);
    this.#tools = tools;
  }

  /** The tools that are wanted, as they run. */
  get tools(): readonly AgentTool[] {
    return this.#tools;
  }

  /** The prompt that the model was told, as one text. */
  get promptText(): string {
    return promptText(this.#told);
  }

  wantPrompt(prompt: Prompt): void {
    this.#wanted = headOf(prompt, this.#tools);
  }

  wantTools(tools: readonly AgentTool[]): void {
    this.#tools = tools;
    this.#wanted = { ...headOf("", tools), sections: this.#wanted.sections };
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
    return headMessage(this.#wanted, timestamp);
  }

  /** What has to be told before the next request; undefined when the model knows everything. */
  change(timestamp: number): SystemMessage | undefined {
    return headChange(this.#told, this.#wanted, timestamp);
  }

  /** All that was told, in one message: the checkpoint of a compaction. */
  checkpoint(timestamp: number): SystemMessage {
    return headMessage(this.#told, timestamp);
  }
}
