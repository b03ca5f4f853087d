import type { EntryPlace } from "./entry-tree.ts";
import type { RecordingState } from "./session-store.ts";

/** Where the lines of a session go. No call throws: what went wrong is in `state` (law F11). */
export interface Recorder {
  readonly state: RecordingState;
  /** Takes one line of JSON; `index` is the entry's number. */
  add(line: string, index: number): void;
  /** Ends the time in which lines are only kept (law F3): what was kept and what follows is written. */
  release(): void;
  /** Whether the places told so far are sure: nobody else wrote to the file. */
  placesHold(): boolean;
  sync(): void;
  close(): void;
}

/** Told where an entry's line came to lie. */
export type OnPlaced = (index: number, place: EntryPlace) => void;

/** Keeps nothing: the session lives in memory only. */
export const memoryRecorder: Recorder = {
  state: { status: "ok" },
  add: () => undefined,
  release: () => undefined,
  placesHold: () => false,
  sync: () => undefined,
  close: () => undefined,
};

/** For a session that was opened to look at: what is appended stays in memory, and the state says so. */
export function readOnlyRecorder(): Recorder {
  let unsaved = 0;
  return {
    get state(): RecordingState {
      return { status: "failing", reason: "the session was opened read-only", unsaved };
    },
    add: () => void unsaved++,
    release: () => undefined,
    placesHold: () => false,
    sync: () => undefined,
    close: () => undefined,
  };
}
