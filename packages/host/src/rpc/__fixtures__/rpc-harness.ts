import { PassThrough, Writable } from "node:stream";
import type { Model } from "@tau/llm";
import { createScript, type Script, type ScriptFunction, type ScriptStep, scriptedModel } from "@tau/llm/testing";
import { afterEach } from "vitest";
import { runCommand } from "../../commands/run-command.ts";
import type { CommandServices } from "../../commands/command-row.ts";
import { newStore, tempDir } from "../../session/__fixtures__/harness.ts";
import { AgentSession } from "../../session/agent-session.ts";
import type { AgentSessionOptions } from "../../session/options.ts";
import { type ModelInUse, type OpenedSession, type PromptCommand, SessionHost } from "../../session/session-host.ts";
import type { SessionStore } from "../../store/session-store.ts";
import { RpcClient } from "../client.ts";
import { LineOutput } from "../line-output.ts";
import type { RpcEvent } from "../records.ts";
import { serveRpc } from "../server.ts";

// biome-ignore lint/suspicious/noExplicitAny: tests look into records of many shapes
export type Record_ = Record<string, any>;

export interface RpcHarness {
  client: RpcClient;
  sessions: SessionHost;
  script: Script;
  dir: string;
  /** Everything that the server wrote, byte for byte. */
  written(): string;
  /** The lines of it, as objects. */
  records(): Record_[];
  /** Types of the events, without updates, phases and queues. */
  types(): string[];
  /** Sends bytes as they are. */
  raw(bytes: string | Uint8Array): void;
  /** Resolves when so many events of a type have come since the start. */
  seen(type: RpcEvent["type"], count?: number): Promise<void>;
  /** Ends the input; resolves when the server has ended. */
  end(): Promise<void>;
  served: Promise<void>;
}

export interface RpcHarnessOptions extends Partial<Omit<AgentSessionOptions, "streamFn">> {
  inMemory?: boolean;
  services?: Partial<CommandServices>;
  commands?: PromptCommand[];
  expand?: (text: string) => string;
  models?: Model[];
  /** Ends the server. */
  signal?: AbortSignal;
}

const open: RpcHarness[] = [];

/** Ends the servers of a file's tests; call once in each file. */
export function endServersAfterEach(): void {
  afterEach(async () => {
    await Promise.all(open.splice(0).map((harness) => harness.end()));
  });
}

/** A server over the scripted model, with a client on streams in this process. */
export async function startRpc(
  steps: readonly ScriptStep[] | ScriptFunction,
  given: RpcHarnessOptions = {},
): Promise<RpcHarness> {
  const { inMemory = false, services, commands = [], expand = (text) => text, models = [], signal, ...options } = given;
  const script = createScript(steps);
  const dir = tempDir();
  const make = async (store: SessionStore, inUse?: ModelInUse): Promise<OpenedSession> => {
    const defaults = { cwd: "/work", model: scriptedModel(), tools: [], systemPrompt: "You are a test." };
    const base = { ...defaults, sleep: async () => undefined, ...options, ...inUse };
    const session = new AgentSession({ ...base, store }, script.streamFn, runCommand);
    return { session, store, warnings: [], commands, expand };
  };
  const sessions = new SessionHost(await make(options.store ?? newStore(dir)), {
    open: make,
    ...(!inMemory && { sessionsDir: dir }),
  });
  const [input, output] = [new PassThrough(), new PassThrough()];
  const copy = { text: "" };
  const tee = new Writable({
    write(chunk: Buffer, _encoding, done) {
      copy.text += chunk.toString("utf8");
      output.write(chunk);
      done();
    },
    final(done) {
      output.end();
      done();
    },
  });
  const all = { version: "1.2.3", availableModels: async () => models, ...services };
  const ends = { input, output: new LineOutput(tee), ...(signal && { signal }) };
  const served = serveRpc({ sessions, services: all, ...ends }).finally(() => tee.end());
  const client = new RpcClient({ input, output });
  const harness = watch({ client, copy, input, served, sessions, script, dir });
  open.push(harness);
  return harness;
}

interface Running {
  client: RpcClient;
  copy: { text: string };
  input: PassThrough;
  served: Promise<void>;
  sessions: SessionHost;
  script: Script;
  dir: string;
}

function watch({ client, copy, input, served, ...rest }: Running): RpcHarness {
  const counts = new Map<string, number>();
  const waiting = new Set<() => void>();
  void (async () => {
    for await (const { type } of client.events()) {
      counts.set(type, (counts.get(type) ?? 0) + 1);
      for (const look of [...waiting]) look();
    }
  })();
  const records = () =>
    copy.text
      .split("\n")
      .slice(0, -1)
      .map((line) => JSON.parse(line));
  const quiet = new Set(["message_update", "phase", "queue_update", "response"]);
  return {
    ...rest,
    client,
    served,
    written: () => copy.text,
    records,
    types: () => records().flatMap(({ type }) => (quiet.has(type) ? [] : [type])),
    raw: (bytes) => void input.write(bytes),
    seen: (type, count = 1) =>
      new Promise((resolve) => {
        const look = () => {
          if ((counts.get(type) ?? 0) < count) return;
          waiting.delete(look);
          resolve();
        };
        waiting.add(look);
        look();
      }),
    async end() {
      await client.close();
      await served;
    },
  };
}
