import type { SessionEvent } from "../session/events/session-event.ts";
import { toWire, type WireRecord } from "./wire-event.ts";

type Write = (record: WireRecord) => Promise<void> | undefined;

/** What follows an `agent_end` and says whether the failed request is made again; other events do not tell. */
const DECIDES: { readonly [T in SessionEvent["type"]]?: (event: Extract<SessionEvent, { type: T }>) => boolean } = {
  auto_retry_start: () => true,
  model_fallback: () => true,
  compaction_start: ({ reason }) => reason === "overflow",
  agent_start: () => false,
  agent_settled: () => false,
};

/**
 * Writes events in their wire form. Pi's `agent_end` has a `willRetry`, which is known only by what comes
 * next: it is held back until then, which is no more than a moment, with everything behind it.
 */
export class WireFeed {
  readonly #write: Write;
  #held: WireRecord[] = [];

  constructor(write: Write) {
    this.#write = write;
  }

  event(event: SessionEvent): Promise<void> | undefined {
    const record = toWire(event);
    const decision = this.#held.length > 0 ? decisionOf(event) : undefined;
    if (decision !== undefined) this.#release(decision);
    if (event.type !== "agent_end" && this.#held.length === 0) return this.#write(record);
    this.#held.push(record);
    return undefined;
  }

  /** Writes a record that is not an event, behind all events so far; no retry follows. */
  record(record: WireRecord): Promise<void> | undefined {
    this.#release(false);
    return this.#write(record);
  }

  #release(willRetry: boolean): void {
    const [end, ...others] = this.#held;
    this.#held = [];
    if (!end) return;
    void this.#write({ ...end, willRetry });
    for (const record of others) void this.#write(record);
  }
}

function decisionOf(event: SessionEvent): boolean | undefined {
  const decide = DECIDES[event.type] as ((event: SessionEvent) => boolean) | undefined;
  return decide?.(event);
}
