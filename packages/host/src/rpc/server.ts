import type { SessionHost } from "../session/session-host.ts";
import { isRecord, readFields } from "./fields.ts";
import { type Line, readLines } from "./line-reader.ts";
import type { RpcContext, RpcMethod, RpcServices } from "./method.ts";
import { METHODS } from "./methods/table.ts";
import { type Answer, Outbox, type RpcOutput } from "./outbox.ts";
import type { RpcCommandType } from "./protocol.ts";
import { WireFeed } from "./wire-feed.ts";

export interface RpcServerOptions {
  readonly sessions: SessionHost;
  readonly services: RpcServices;
  /** Where commands come from, one a line. */
  readonly input: AsyncIterable<Uint8Array | string>;
  readonly output: RpcOutput;
  /** Ends the service as the end of the input does. */
  readonly signal?: AbortSignal;
}

type Id = string | number | undefined;

/** A command that can be run. */
interface Call {
  readonly id: Id;
  readonly command: RpcCommandType;
  readonly record: Record<string, unknown>;
}

/**
 * Serves a session to one client (DESIGN, "RPC"; docs/rpc.md): commands in, responses and events out, one JSON record
 * a line. Resolves when the input has ended or the signal fired: what ran is aborted and settled by then, every
 * command is answered, the session is closed. Never rejects for anything that a client sends.
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

  constructor(options: RpcServerOptions) {
    this.#options = options;
    this.#outbox = new Outbox(options.output);
    const feed = new WireFeed((record) => this.#outbox.write(record));
    options.sessions.subscribe((event) => feed.event(event));
    this.#warn();
  }

  /** Starts one command after the other; only a change of the session is waited for. */
  async readAll(): Promise<void> {
    const { signal } = this.#options;
    let stop: () => void = () => undefined;
    const onAbort = () => stop();
    signal?.addEventListener("abort", onAbort, { once: true });
    try {
      await this.#readLines((how) => {
        stop = how;
      });
    } finally {
      // One signal may end many servers.
      signal?.removeEventListener("abort", onAbort);
    }
  }

  /** `stopBy` is told what ends the wait for the line that is waited for now. */
  async #readLines(stopBy: (stop: () => void) => void): Promise<void> {
    const { input, signal } = this.#options;
    const lines = readLines(input)[Symbol.asyncIterator]();
    while (!signal?.aborted) {
      const next = await new Promise<IteratorResult<Line> | undefined>((resolve) => {
        const stop = () => resolve(undefined);
        stopBy(stop);
        // An input that breaks off has ended.
        lines.next().then(resolve, stop);
      });
      if (!next || next.done) return;
      const waits = this.#start(next.value);
      if (waits) await waits;
    }
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
    const method: RpcMethod<RpcCommandType> = METHODS[call.command];
    const { sessions } = this.#options;
    const before = sessions.current;
    const run = () => this.#run(method, call);
    const result = this.#outbox.respondFirst(run, (given) => (given instanceof Promise ? undefined : given));
    if (!(result instanceof Promise)) return undefined;
    const answered = result.then((answer) => void this.#outbox.respond(answer));
    this.#pending.add(answered);
    const done = answered.finally(() => this.#pending.delete(answered));
    return method.replaces ? done.then(() => sessions.current !== before && this.#warn()) : undefined;
  }

  /** The command in a line; what holds none is answered at once. */
  #read(line: Line): Call | undefined {
    if (line?.trim() === "") return undefined;
    const call = line === undefined ? problem("The line is too long.") : parseCall(line);
    if (!("result" in call)) return call;
    // Answers to dialogs of the ecosystem need no response; there is no dialog that could be open yet.
    if (call.command !== "extension_ui_response") void this.#outbox.respond(call);
    return undefined;
  }

  #run(method: RpcMethod<RpcCommandType>, { id, command, record }: Call): Answer | Promise<Answer> {
    const { sessions, services } = this.#options;
    const failed = (error: unknown): Answer => ({ id, command, result: { error: reasonOf(error) } });
    try {
      const { session } = sessions.current;
      const context: RpcContext = { sessions, services, outbox: this.#outbox, id, session };
      const data = method.run(context, readFields(record, method.fields));
      if (!(data instanceof Promise)) return { id, command, result: { data } };
      return data.then((given): Answer => ({ id, command, result: { data: given } })).catch(failed);
    } catch (error) {
      return failed(error);
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
  if (isCommand(command)) return { id: id ?? undefined, command, record };
  return { id: id ?? undefined, command, result: { error: `Unknown command: ${command}` } };
}

/** The answer to a line that holds no command. */
function problem(error: string, id?: Id): Answer {
  return { id, command: "parse", result: { error } };
}

function isCommand(name: string): name is RpcCommandType {
  return Object.hasOwn(METHODS, name);
}

function parseJson(text: string): { value: unknown } | { error: string } {
  try {
    return { value: JSON.parse(text) };
  } catch (error) {
    return { error: reasonOf(error) };
  }
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
