import type { SessionEvent } from "@tau/host";

/** One way to show a run to the outside. It listens from before the first prompt to the end. */
export interface Mode {
  /** Awaited by the session: a slow reader slows the run down. */
  onEvent(event: SessionEvent): void | Promise<void>;
  /** Nothing more comes; resolves when all is written. */
  finish(): Promise<void>;
}
