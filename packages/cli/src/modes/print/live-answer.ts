import type { SessionEvent } from "@tau/host";
import { terminalText } from "../../output/terminal-text.ts";

type Write = (text: string) => Promise<void> | undefined;

/** Shows the text of replies on a terminal while it comes; lines of progress go between them, never into one (R265). */
export class LiveAnswer {
  readonly #write: Write;
  /** The cursor is behind a text that has no line end yet. */
  #open = false;
  /** Something of the reply that is coming is on the screen. */
  #shown = false;

  constructor(write: Write) {
    this.#write = write;
  }

  onEvent(event: SessionEvent): Promise<void> | undefined {
    if (event.type === "message_update") {
      const { assistantMessageEvent: part } = event;
      return part.type === "text_delta" ? this.#text(part.delta) : undefined;
    }
    if (event.type !== "message_end" || event.message.role !== "assistant") return undefined;
    const { content } = event.message;
    const whole = content.map((block) => (block.type === "text" ? block.text : "")).join("");
    // A reply that came in one piece had no updates.
    if (!this.#shown && whole !== "") void this.#text(whole);
    this.#shown = false;
    return this.endLine();
  }

  /** To be called before anything else is written to the terminal. */
  endLine(): Promise<void> | undefined {
    if (!this.#open) return undefined;
    this.#open = false;
    return this.#write("\n");
  }

  #text(text: string): Promise<void> | undefined {
    const shown = terminalText(text);
    if (shown === "") return undefined;
    this.#shown = true;
    this.#open = !shown.endsWith("\n");
    return this.#write(shown);
  }
}
