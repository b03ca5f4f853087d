import type { SystemMessage } from "@tau/llm";
import { foldHead, type Head, headChange, headOf, PROMPT_SECTION, promptText, replayHead } from "@tau/llm/head";
import type { FirstHead } from "./config.ts";
import type { AgentMessage } from "./messages.ts";
import { attempt } from "./values.ts";

/** What the model was told so far: what a session began with, and the system messages of its transcript (law B8). */
export class Told {
  #head: Head;
  /** Whether a system message said more than the beginning. */
  changed: boolean;

  constructor({ systemPrompt = "", tools }: FirstHead, messages: readonly AgentMessage[]) {
    const first = headOf(systemPrompt, tools);
    // One message that cannot be read must not hide the others.
    this.#head = attempt(() => replayHead(first, messages)) ?? messages.reduce(folded, first);
    this.changed = messages.some(({ role }) => role === "system");
  }

  tell(message: AgentMessage): void {
    this.#head = folded(this.#head, message);
    this.changed ||= message.role === "system";
  }

  /** As the head of a request. */
  get head(): FirstHead {
    return { systemPrompt: promptText(this.#head), tools: [...this.#head.tools.values()] };
  }

  /** The message that leads to what holds now, if anything changed. An absent prompt or tool list says nothing. */
  change({ systemPrompt, tools }: FirstHead, timestamp: number): SystemMessage | undefined {
    const { content, sections } = this.#head;
    // Text outside of sections cannot be taken back, so beside such text only the section counts.
    const known = [promptText(this.#head), ...(content === "" ? [] : [sections.get(PROMPT_SECTION) ?? ""])];
    const same = systemPrompt === undefined || known.includes(systemPrompt);
    const wanted = headOf(systemPrompt ?? "", tools);
    const next = { sections: same ? sections : wanted.sections, tools: tools ? wanted.tools : this.#head.tools };
    return headChange(this.#head, next, timestamp);
  }
}

function folded(head: Head, message: AgentMessage): Head {
  return message.role === "system" ? (attempt(() => foldHead(head, message)) ?? head) : head;
}
