import { type ChildProcess, spawn } from "node:child_process";
import { createRequire } from "node:module";

/** One message of JSON-RPC 2.0, in either direction. */
// biome-ignore lint/suspicious/noExplicitAny: tests look into records of many shapes
type Message = Record<string, any>;

/** The command of the npm package `pi-acp`; undefined when it is not installed. */
export function findPiAcp(): string | undefined {
  try {
    return createRequire(import.meta.url).resolve("pi-acp");
  } catch {
    return undefined;
  }
}

/** An editor that speaks the Agent Client Protocol to an agent at its stdio. */
export class AcpClient {
  readonly #child: ChildProcess;
  readonly #waiting = new Map<number, { resolve(result: Message): void; reject(error: Error): void }>();
  readonly #watchers = new Set<() => void>();
  readonly ended: Promise<number | null>;
  /** `session/update` notifications, in order. */
  readonly updates: Message[] = [];
  #count = 0;
  #rest = "";

  constructor(command: string, { cwd, env }: { cwd: string; env: Record<string, string> }) {
    this.#child = spawn(process.execPath, [command], { cwd, env, stdio: ["pipe", "pipe", "inherit"] });
    this.#child.stdout?.setEncoding("utf8").on("data", (text: string) => this.#take(text));
    this.ended = new Promise((resolve) => this.#child.on("close", resolve));
  }

  request(method: string, params: object): Promise<Message> {
    const id = ++this.#count;
    this.#send({ id, method, params });
    return new Promise((resolve, reject) => this.#waiting.set(id, { resolve, reject }));
  }

  notify(method: string, params: object): void {
    this.#send({ method, params });
  }

  /** Resolves when an update fits that came or comes. */
  seen(fits: (update: Message) => boolean): Promise<void> {
    return new Promise((resolve) => {
      const look = () => {
        if (!this.updates.some(fits)) return;
        this.#watchers.delete(look);
        resolve();
      };
      this.#watchers.add(look);
      look();
    });
  }

  /** The text that the agent said, from update `from` on. */
  text(kind: string, from = 0): string {
    const said = this.updates.slice(from).filter(({ sessionUpdate }) => sessionUpdate === kind);
    return said.map(({ content }) => content?.text ?? "").join("");
  }

  /** Closes the agent's stdin, as an editor does that goes. */
  close(): Promise<number | null> {
    this.#child.stdin?.end();
    return this.ended;
  }

  #send(message: Message): void {
    this.#child.stdin?.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  }

  #take(text: string): void {
    const lines = (this.#rest + text).split("\n");
    this.#rest = lines.pop() ?? "";
    for (const line of lines) this.#handle(JSON.parse(line));
    for (const look of [...this.#watchers]) look();
  }

  #handle(message: Message): void {
    if (message.method === "session/update") this.updates.push(message.params.update);
    const waiting = this.#waiting.get(message.id);
    if (!waiting || message.method) return;
    this.#waiting.delete(message.id);
    if (message.error) waiting.reject(new Error(JSON.stringify(message.error)));
    else waiting.resolve(message.result);
  }
}
