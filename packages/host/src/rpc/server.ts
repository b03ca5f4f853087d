import { randomUUID } from "node:crypto";
import type { CommandContext, CommandRow, CommandServices } from "../commands/command-row.ts";
import { isRecord } from "../commands/fields.ts";
import { findCommand, startCommand } from "../commands/run-command.ts";
import { coreOf } from "../session/agent-session.ts";
import type { CommandType } from "../session/command.ts";
import type { SessionHost } from "../session/session-host.ts";
import { type Line, readLines } from "./line-reader.ts";
import { type Answer, type Failure, failure, Outbox, type RpcOutput } from "./outbox.ts";
import type { RpcNotice } from "./records.ts";
import { shownData } from "./shown-model.ts";
import { WireFeed } from "./wire-feed.ts";

export interface RpcServerOptions {
  readonly sessions: SessionHost;
  readonly services: CommandServices;
  /** Where commands come from, one a line. */
  readonly input: AsyncIterable<Uint8Array | string>;
  readonly output: RpcOutput;
  /** Ends the service as the end of the input does. */
  readonly signal?: AbortSignal;
}

type Id = string | number | undefined;

/** A line that may be a command. */
interface Call {
  readonly id: Id;
  readonly command: string;
  readonly record: Record<string, unknown>;
}

/**
 * Serves a session to one client (docs/rpc.md): commands in, responses and events out, one JSON record a line.
 * Resolves when the input has ended or the signal fired: what ran is aborted and settled by then, every command is
 * answered, the session is closed. Never rejects for anything that a client sends. While the client does not read,
 * nothing more is read of it.
 */
export async function serveRpc(options: RpcServerOptions): Promise<void> {
  const server = new RpcServer(options);
  try {
    await server.readAll();
  } finally {
    await server.end();
  }
}

class RpcServer {
  readonly #options: RpcServerOptions;
  readonly #outbox: Outbox;
  readonly #pending = new Set<Promise<unknown>>();
  /** Ends the wait that is on now. */
  #stopWaiting: () => void = () => undefined;

  constructor(options: RpcServerOptions) {
    this.#options = options;
    this.#outbox = new Outbox(options.output);
    const feed = new WireFeed((record) => this.#outbox.write(record));
    options.sessions.subscribe((event) => feed.event(event));
    this.#warn();
  }

  /** Starts one command after the other; waits for a change of the session, and for a client that does not read. */
  async readAll(): Promise<void> {
    const { input, signal } = this.#options;
    const stop = () => this.#stopWaiting();
    signal?.addEventListener("abort", stop, { once: true });
    try {
      const lines = readLines(input)[Symbol.asyncIterator]();
      for (;;) {
        const next = await this.#untilStop(lines.next());
        if (!next || next.done) return;
        await this.#start(next.value);
        while (this.#outbox.room && !signal?.aborted) await this.#untilStop(this.#outbox.room);
      }
    } finally {
      // One signal may end many servers.
      signal?.removeEventListener("abort", stop);
    }
  }

  /** What the work gives; undefined when the server is to end before, and for an input that breaks off. */
  #untilStop<T>(work: Promise<T>): Promise<T | undefined> {
    return new Promise((resolve) => {
      this.#stopWaiting = () => resolve(undefined);
      if (this.#options.signal?.aborted) resolve(undefined);
      work.then(resolve, () => resolve(undefined));
    });
  }

  async end(): Promise<void> {
    await this.#options.sessions.dispose();
    await Promise.all(this.#pending);
    await this.#outbox.flush();
  }

  /** What was found when the session was opened. */
  #warn(): void {
    for (const message of this.#options.sessions.current.warnings)
      void this.#outbox.write({ type: "warning", message });
  }

  /** A promise only for a command that the next one has to wait for. */
  #start(line: Line): Promise<unknown> | undefined {
    const call = this.#read(line);
    if (!call) return undefined;
    const { sessions } = this.#options;
    const before = sessions.current;
    const { replaces, result } = this.#outbox.respondFirst(
      () => this.#run(call),
      (started) => (started.result instanceof Promise ? undefined : started.result),
    );
    if (!(result instanceof Promise)) return undefined;
    const answered = result.then((answer) => void this.#outbox.respond(answer));
    this.#pending.add(answered);
    const done = answered.finally(() => this.#pending.delete(answered));
    return replaces ? done.then(() => sessions.current !== before && this.#warn()) : undefined;
  }

  /** The command in a line; what holds none is answered at once. */
  #read(line: Line): Call | undefined {
    if (line?.trim() === "") return undefined;
    const call = line === undefined ? problem("The line is too long.") : parseCall(line);
    if ("result" in call) {
      void this.#outbox.respond(call);
      return undefined;
    }
    // Answers to dialogs need no response; there is no dialog that could be open yet.
    return call.command === "extension_ui_response" ? undefined : call;
  }

  #run({ id, command, record }: Call): { replaces?: boolean | undefined; result: Answer | Promise<Answer> } {
    const failed = (error: unknown) => refusal(id, command, failure(error));
    try {
      const { sessions, services } = this.#options;
      const row: CommandRow<CommandType> = findCommand(command);
      const context: CommandContext = { sessions, services, id, session: coreOf(sessions.current.session) };
      const data = startCommand(row, context, record);
      const answer = (given: unknown): Answer => ({ id, command, result: { data: shownData(given) } });
      if (!(data instanceof Promise)) return { result: answer(data) };
      const result = data.then(answer).catch(failed);
      return { replaces: row.replaces, result };
    } catch (error) {
      return { result: failed(error) };
    }
  }
}

function parseCall(line: string): Call | Answer {
  const parsed = parseJson(line);
  if ("error" in parsed) return problem(`Failed to parse command: ${parsed.error}`);
  const record = parsed.value;
  if (!isRecord(record)) return problem("A command must be a JSON object.");
  const { id = null, type: command } = record;
  if (id !== null && typeof id !== "string" && typeof id !== "number") return problem('"id" must be a string.');
  if (typeof command !== "string") return problem('A command must have a "type".', id ?? undefined);
  return { id: id ?? undefined, command, record };
}

/** Commands that a person has typed: some clients show nothing of their responses. */
const TYPED: ReadonlySet<string> = new Set<CommandType>(["prompt", "steer", "follow_up", "interrupt"]);

/** The answer to a command that failed, with a word for people where the person would hear of nothing otherwise. */
function refusal(id: Id, command: string, result: Failure): Answer {
  if (!TYPED.has(command)) return { id, command, result };
  const notice: RpcNotice = {
    type: "extension_ui_request",
    id: randomUUID(),
    method: "notify",
    message: result.error,
    notifyType: "error",
  };
  return { id, command, result, notice: { ...notice } };
}

/** The answer to a line that holds no command. */
function problem(error: string, id?: Id): Answer {
  return { id, command: "parse", result: { error } };
}

function parseJson(text: string): { value: unknown } | { error: string } {
  try {
    return { value: JSON.parse(text) };
  } catch (error) {
    return failure(error);
  }
}
