import { isRecord } from "../commands/fields.ts";
import { reasonOf } from "../platform/thrown.ts";
import type { CommandData, CommandFields, CommandType } from "../session/command.ts";
import { NO_YIELD } from "../session/run/budget.ts";
import type { RunOutcome } from "../session/run/outcome.ts";
import { readLines } from "./line-reader.ts";
import { Mailbox } from "./mailbox.ts";
import type { RpcEvent, RpcResponse } from "./records.ts";
import { encodeLine } from "./wire-event.ts";

/** Where commands go: a Writable of Node, or what behaves like one. */
export interface RpcInput {
  write(text: string): unknown;
  end(): unknown;
  on(event: "error", listener: (error: Error) => void): unknown;
}

/** The two streams of a server. */
export interface RpcConnection {
  /** Takes commands; its end asks the server to end. */
  readonly input: RpcInput;
  /** Gives responses and events. */
  readonly output: AsyncIterable<Uint8Array | string>;
  /** Resolves when the server is gone, with what is to be said about it. */
  readonly ended?: Promise<string>;
  /** Makes a server go that does not end by itself. */
  kill?(): void;
}

/** A command was refused; the message is the server's. */
export class RpcError extends Error {
  override readonly name = "RpcError";
  readonly command: string;
  /** Why, in a word that stays the same where the message changes; undefined when the server gave none. */
  readonly code: string | undefined;

  constructor(command: string, message: string, code?: string) {
    super(message);
    this.command = command;
    this.code = code;
  }
}

/** The fields of a command; to be left out where all of them can be. */
export type FieldsArgument<T extends CommandType> = object extends CommandFields[T]
  ? [CommandFields[T]?]
  : [CommandFields[T]];

interface Waiting {
  resolve(data: unknown): void;
  reject(error: Error): void;
}

/** How long `close` waits for a server to end by itself, in milliseconds. */
const CLOSE_GRACE_MS = 5_000;

/**
 * Talks to a server of docs/rpc.md: typed commands in, events out. Responses are matched by id. When the server goes,
 * open commands are rejected and the events end.
 */
export class RpcClient {
  readonly #connection: RpcConnection;
  readonly #waiting = new Map<string, Waiting>();
  readonly #mailboxes = new Set<Mailbox<RpcEvent>>();
  readonly #reading: Promise<void>;
  #count = 0;
  #gone: Error | undefined;

  constructor(connection: RpcConnection) {
    this.#connection = connection;
    // A server that is gone shows by the end of its output; the error of a pipe says nothing more.
    connection.input.on("error", () => undefined);
    this.#reading = this.#read();
  }

  /** Sends a command; resolves with the data of its response. Rejects with RpcError when it is refused. */
  send<T extends CommandType>(type: T, ...[fields]: FieldsArgument<T>): Promise<CommandData[T]> {
    if (this.#gone) return Promise.reject(this.#gone);
    const id = `c${++this.#count}`;
    return new Promise((resolve, reject) => {
      // The server answers each command with its own data.
      this.#waiting.set(id, { resolve: (data) => resolve(data as CommandData[T]), reject });
      this.#connection.input.write(encodeLine({ ...fields, id, type }));
    });
  }

  /** The events from now on, until the server ends or the loop is left. What is not taken yet waits. */
  events(): AsyncIterableIterator<RpcEvent> {
    const mailbox = new Mailbox<RpcEvent>(() => this.#mailboxes.delete(mailbox));
    if (this.#gone) mailbox.end();
    else this.#mailboxes.add(mailbox);
    return mailbox;
  }

  /** Sends a prompt and resolves with how it ended, when nothing continues by itself any more. */
  async promptAndWait(message: string, options: Omit<CommandFields["prompt"], "message"> = {}): Promise<RunOutcome> {
    const events = this.events();
    try {
      await this.send("prompt", { message, ...options });
      for await (const event of events) {
        if (event.type !== "agent_settled") continue;
        return event.outcome ?? { status: event.aborted ? "aborted" : "done", ...NO_YIELD };
      }
      throw this.#gone ?? new Error("The server has ended.");
    } finally {
      await events.return?.();
    }
  }

  /** Asks the server to end and resolves when it is gone; one that does not go in time is made to. */
  async close(): Promise<void> {
    const { input, kill } = this.#connection;
    input.end();
    const timer = setTimeout(() => kill?.(), CLOSE_GRACE_MS);
    await this.#reading;
    clearTimeout(timer);
  }

  async #read(): Promise<void> {
    const { output, ended } = this.#connection;
    let reason = "the connection is closed";
    try {
      for await (const line of readLines(output)) this.#take(line);
    } catch (error) {
      reason = reasonOf(error);
    }
    this.#end(new Error(`The server has ended: ${(await ended) ?? reason}.`));
  }

  #take(line: string | undefined): void {
    const record = line === undefined || line.trim() === "" ? undefined : parse(line);
    if (!record) return;
    if (record.type === "response") this.#settle(record);
    else for (const mailbox of this.#mailboxes) mailbox.put(record);
  }

  #settle(response: RpcResponse): void {
    const id = String(response.id);
    const waiting = this.#waiting.get(id);
    if (!waiting) return;
    this.#waiting.delete(id);
    if (response.success) waiting.resolve(response.data);
    else waiting.reject(new RpcError(response.command, response.error, response.code));
  }

  #end(error: Error): void {
    this.#gone = error;
    for (const { reject } of this.#waiting.values()) reject(error);
    this.#waiting.clear();
    for (const mailbox of this.#mailboxes) mailbox.end();
  }
}

/** A record of the protocol; undefined for a line that is none, such as a word of some start-up script. */
function parse(line: string): RpcResponse | RpcEvent | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return isRecord(value) && typeof value.type === "string" ? (value as RpcResponse | RpcEvent) : undefined;
  } catch {
    return undefined;
  }
}
