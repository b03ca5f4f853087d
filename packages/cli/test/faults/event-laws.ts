import type { SessionEvent } from "@tau/host";
import { expect } from "vitest";

type Shown = Extract<SessionEvent, { type: "message_end" }>["message"];

/** Sees every event of a session and holds it to the laws of their order (T2, T4, S3, E6, R184). */
export class EventLaws {
  /** What was shown with a `message_end`, as it was then; the head and the notes of the program are left out. */
  readonly shown: Shown[] = [];
  /** What failed in a listener: there it would only be reported to the listeners. */
  readonly problems: unknown[] = [];
  #chain = false;
  #run = false;
  #message = false;
  readonly #calls = new Set<string>();

  /** Runs what a listener does with an event; its failure is kept. */
  note(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.problems.push(error);
    }
  }

  see(event: SessionEvent): void {
    this.note(() => this.#see(event));
  }

  /** Nothing is open and nothing failed. */
  expectQuiet(): void {
    const [problem] = this.problems;
    if (problem !== undefined) throw problem;
    this.#expectNothingOpen();
  }

  #see(event: SessionEvent): void {
    switch (event.type) {
      case "phase":
        if (event.from !== "idle") return;
        expect(this.#chain, "a chain begins when none is on").toBe(false);
        this.#chain = true;
        return;
      case "agent_settled":
        expect(this.#chain, "agent_settled comes once for each chain").toBe(true);
        this.#chain = false;
        this.#expectNothingOpen();
        return;
      case "agent_start":
        expect(this.#run, "agent_start comes when no run is on").toBe(false);
        this.#run = true;
        return;
      case "agent_end":
        expect(this.#run, "agent_end comes once for each run").toBe(true);
        this.#run = false;
        return;
      case "message_start":
        expect(this.#message, "message_start comes when no message is open").toBe(false);
        this.#message = true;
        return;
      case "message_end":
        this.#end(event.message);
        return;
      case "tool_execution_start":
        this.#calls.add(event.toolCallId);
        return;
      case "tool_execution_end":
        expect(this.#calls.delete(event.toolCallId), `the end of ${event.toolCallId} has a start`).toBe(true);
        return;
      case "listener_error":
        throw new Error(`a listener failed on ${event.event}: ${event.error}`);
      default:
    }
  }

  #expectNothingOpen(): void {
    expect([this.#chain, this.#run, this.#message, [...this.#calls]]).toEqual([false, false, false, []]);
  }

  #end(message: Shown): void {
    expect(this.#message, "message_end has a message_start").toBe(true);
    this.#message = false;
    if (message.role !== "system" && message.role !== "custom") this.shown.push(JSON.parse(JSON.stringify(message)));
  }
}
