import type { RecordingState } from "../../store/session-store.ts";

/** Tells the user that the session is not being saved, again after every prompt, and when it is again (law F11). */
export class RecordingWatch {
  #failing = false;

  /** @returns what is to be said after an entry was added */
  changed(state: RecordingState): string | undefined {
    const failing = state.status === "failing";
    if (failing === this.#failing) return undefined;
    this.#failing = failing;
    return failing ? notSaved(state) : "The session is being saved again; nothing is missing from the file.";
  }

  /** @returns what is to be said when a prompt is settled */
  settled(state: RecordingState): string | undefined {
    return state.status === "failing" ? notSaved(state) : undefined;
  }
}

function notSaved({ reason, unsaved }: Extract<RecordingState, { status: "failing" }>): string {
  return `The session is not being saved: ${reason}. ${unsaved} entries are in memory only; mend it before you leave.`;
}
