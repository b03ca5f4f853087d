import { encodeLine, escapeLineBreaks, type WireRecord } from "./wire-event.ts";

/** Where the lines go. */
export interface RpcOutput {
  /** A promise means that the reader is slow: whoever can wait waits for it. */
  write(line: string): Promise<void> | undefined;
  /** Resolves when all that was written has left the process, or nobody reads it. */
  flush(): Promise<void>;
}

/** JSON that is text already: of a value that `JSON.stringify` cannot do, such as a tree of 20,000 levels. */
export class RawJson {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** What a response says besides its type. */
export interface Answer {
  readonly id: string | number | undefined;
  readonly command: string;
  readonly result: { readonly data: unknown } | { readonly error: string };
}

/** Writes records as lines, whole and one after another. */
export class Outbox {
  readonly #output: RpcOutput;
  #held: string[] | undefined;

  constructor(output: RpcOutput) {
    this.#output = output;
  }

  write(record: WireRecord): Promise<void> | undefined {
    return this.#write(encodeLine(record));
  }

  respond(answer: Answer): Promise<void> | undefined {
    return this.#write(encodeAnswer(answer));
  }

  /**
   * Runs `work` and writes the response that it gives before the records that came up in it: events follow the
   * response of the command that caused them.
   */
  respondFirst<T>(work: () => T, answerOf: (result: T) => Answer | undefined): T {
    this.#held = [];
    try {
      const result = work();
      const answer = answerOf(result);
      if (answer) void this.#output.write(encodeAnswer(answer));
      return result;
    } finally {
      const held = this.#held;
      this.#held = undefined;
      for (const line of held) void this.#output.write(line);
    }
  }

  flush(): Promise<void> {
    return this.#output.flush();
  }

  #write(line: string): Promise<void> | undefined {
    if (!this.#held) return this.#output.write(line);
    this.#held.push(line);
    return undefined;
  }
}

function encodeAnswer(answer: Answer): string {
  try {
    return encode(answer);
  } catch (error) {
    // More than a string can hold, or data of an extension that is no JSON.
    const reason = error instanceof Error ? error.message : String(error);
    return encode({ ...answer, result: { error: `The answer cannot be written as JSON: ${reason}` } });
  }
}

function encode({ id, command, result }: Answer): string {
  const head = { ...(id !== undefined && { id }), type: "response", command };
  if ("error" in result) return encodeLine({ ...head, success: false, error: result.error });
  const { data } = result;
  if (!(data instanceof RawJson)) return encodeLine({ ...head, success: true, ...(data !== undefined && { data }) });
  return `${encodeLine({ ...head, success: true }).slice(0, -2)},"data":${escapeLineBreaks(data.text)}}\n`;
}
