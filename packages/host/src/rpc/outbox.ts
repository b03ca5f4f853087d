import { reasonOf } from "../platform/thrown.ts";
import type { CommandData } from "../session/command.ts";
import { SessionError } from "../session/session-error.ts";
import { Fifo } from "./fifo.ts";
import { treeJson } from "./tree-json.ts";
import { encodeLine, escapeLineBreaks, type WireRecord } from "./wire-event.ts";

/** Where the lines go. */
export interface RpcOutput {
  /** A promise means that the reader is slow: whoever can wait waits for it. */
  write(line: string): Promise<void> | undefined;
  /** Resolves when all that was written has left the process, or nobody reads it. */
  flush(): Promise<void>;
}

/** Why a command came to nothing. */
export interface Failure {
  readonly error: string;
  readonly code?: string;
}

/** What a response says besides its type. */
export interface Answer {
  readonly id: string | number | undefined;
  readonly command: string;
  readonly result: { readonly data: unknown } | Failure;
  /** Goes out in front of the response, in one piece with it. */
  readonly notice?: WireRecord;
}

/** A refusal or failure as a response says it. */
export function failure(error: unknown): Failure {
  if (error instanceof SessionError) return { error: error.message, code: error.code };
  return { error: reasonOf(error) };
}

type Encode = () => string;

/**
 * Writes records as lines, whole and one after another. While the reader is behind, what comes waits as it is: an
 * answer that nobody has room for is not made into text yet.
 */
export class Outbox {
  readonly #output: RpcOutput;
  readonly #waiting = new Fifo<Encode>();
  #held: Encode[] | undefined;
  #room: Promise<void> | undefined;

  constructor(output: RpcOutput) {
    this.#output = output;
  }

  /** Resolves when the reader has caught up; undefined when it has. */
  get room(): Promise<void> | undefined {
    return this.#room;
  }

  /** A promise means that the reader is slow. */
  write(record: WireRecord): Promise<void> | undefined {
    return this.#put(() => encodeLine(record));
  }

  respond(answer: Answer): Promise<void> | undefined {
    return this.#put(() => encodeAnswer(answer));
  }

  /**
   * Runs `work` and writes the response that it gives before the records that came up in it: events follow the
   * response of the command that caused them.
   */
  respondFirst<T>(work: () => T, answerOf: (result: T) => Answer | undefined): T {
    const held: Encode[] = [];
    this.#held = held;
    try {
      const result = work();
      const answer = answerOf(result);
      if (answer) void this.#send(() => encodeAnswer(answer));
      return result;
    } finally {
      this.#held = undefined;
      for (const encode of held) void this.#send(encode);
    }
  }

  async flush(): Promise<void> {
    await this.#room;
    await this.#output.flush();
  }

  #put(encode: Encode): Promise<void> | undefined {
    if (!this.#held) return this.#send(encode);
    this.#held.push(encode);
    return undefined;
  }

  #send(encode: Encode): Promise<void> | undefined {
    if (this.#room) {
      this.#waiting.put(encode);
      return this.#room;
    }
    const full = this.#output.write(encode());
    if (full) this.#room = this.#catchUp(full);
    return this.#room;
  }

  async #catchUp(full: Promise<void>): Promise<void> {
    await full;
    for (let next = this.#waiting.take(); next; next = this.#waiting.take()) await this.#output.write(next());
    this.#room = undefined;
  }
}

function encodeAnswer(answer: Answer): string {
  try {
    return encode(answer);
  } catch (error) {
    // More than a string can hold, or data of an extension that is not JSON.
    const reason = reasonOf(error);
    return encode({ ...answer, result: { error: `The answer cannot be written as JSON: ${reason}` } });
  }
}

function encode({ notice, ...answer }: Answer): string {
  return notice ? `${encodeLine(notice)}${encodeResponse(answer)}` : encodeResponse(answer);
}

function encodeResponse({ id, command, result }: Omit<Answer, "notice">): string {
  const head = { ...(id !== undefined && { id }), type: "response", command };
  if ("error" in result) return encodeLine({ ...head, success: false, ...result });
  const { data } = result;
  if (command !== "get_tree") return encodeLine({ ...head, success: true, ...(data !== undefined && { data }) });
  // The row of this command has made it.
  const tree = treeJson(data as CommandData["get_tree"]);
  return `${encodeLine({ ...head, success: true }).slice(0, -2)},"data":${escapeLineBreaks(tree)}}\n`;
}
