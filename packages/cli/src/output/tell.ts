import { writeSync } from "node:fs";
import { terminalText } from "./terminal-text.ts";

/** Tells the user something in one line on stderr; texts of servers and files may be in it (R135). */
export function tell(text: string): void {
  tellLine(`tau: ${terminalText(text).replace(/(?<!\s)\s*\n\s*/g, " ")}`);
}

/** The error for an answer that did not get out: a script that reads a file must learn that it is not whole. */
export function unwritable(cause: Error): Error {
  return new Error(`cannot write to stdout: ${cause.message}; the output is not whole`, { cause });
}

/** Writes a line to stderr, at once: the process may end right after it. A closed or slow stderr is not an error. */
export function tellLine(line: string): void {
  try {
    writeSync(2, `${line}\n`);
  } catch (error) {
    // EPIPE, EBADF, EIO: nobody reads it. EAGAIN: the reader is slow, and the line is not worth waiting for.
    if (!(error instanceof Error && "code" in error)) throw error;
  }
}
