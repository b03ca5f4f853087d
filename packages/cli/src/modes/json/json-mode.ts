import type { SessionEvent, SessionHeader } from "@tau/host";
import { encodeLine, type LineOutput, WireFeed, type WireRecord } from "@tau/host/program";
import type { Mode } from "../mode.ts";
import { failureOf, type OutcomeContext } from "../outcome.ts";

export interface JsonModeOptions {
  readonly output: LineOutput;
  readonly header: SessionHeader;
  /** The file of the session; undefined when it is not kept. */
  readonly path: string | undefined;
  /** What was found at the start; sent as warning events behind the header. */
  readonly warnings: readonly string[];
  /** Writes a line to stderr. */
  tell(text: string): void;
  /** Asked when a prompt has ended. */
  context(): OutcomeContext;
}

/**
 * JSON mode: the session header, then every event as a line. A run that does not end well has one `error` record
 * directly before its `agent_settled` (R177, R181), which stays the last record of a prompt (R184), and a line on
 * stderr (R175).
 */
export function jsonMode({ output, header, path, warnings, tell, context }: JsonModeOptions): Mode {
  const write = (record: WireRecord) => output.write(encodeLine(record));
  const feed = new WireFeed(write);
  write({ ...header });
  for (const message of warnings) write({ type: "warning", message });
  return {
    async onEvent(event: SessionEvent) {
      const failure = event.type === "agent_settled" && event.outcome ? failureOf(event.outcome, context()) : undefined;
      if (failure) {
        // A reader that has gone, or a full disk, is why the run was stopped, and is reported as such where it is a failure.
        if (!output.closed) tell(failure.message);
        await feed.record(errorRecord(failure.message, failure.exitCode, failure.details));
      }
      const { id: sessionId } = header;
      // The last record of a prompt has all that a program asks for: the outcome with text and cost, and the session.
      const last = { ...event, sessionId, ...(path !== undefined && { sessionPath: path }) };
      await feed.event(event.type === "agent_settled" ? last : event);
    },
    finish: () => output.flush(),
  };
}

/** The record of a failure; the last line of a stream whose run never began. */
export function errorRecord(
  message: string,
  exitCode: number,
  details: Readonly<Record<string, unknown>> = {},
): WireRecord {
  return { type: "error", message, exitCode, ...details };
}
