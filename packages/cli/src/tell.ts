import { writeSync } from "node:fs";

/** Writes one line for the user to stderr, at once: the process may end right after it. A closed stderr is no error. */
export function tell(text: string): void {
  try {
    writeSync(2, `tau: ${text.replace(/\s*\n\s*/g, " ")}\n`);
  } catch (error) {
    // EPIPE, EBADF: nobody reads it. EAGAIN: the reader is slow and the line is not worth waiting for.
    if (!(error instanceof Error && "code" in error)) throw error;
  }
}
