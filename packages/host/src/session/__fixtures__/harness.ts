import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { AgentMessage, AgentTool } from "@tau/agent";
import type { Model } from "@tau/llm";
import { createScript, type Script, type ScriptFunction, type ScriptStep, scriptedModel } from "@tau/llm/testing";
import { afterEach } from "vitest";
import { createSessionStore, openSessionStore } from "../../store/open-session.ts";
import { runCommand } from "../../commands/run-command.ts";
import type { SessionStore } from "../../store/session-store.ts";
import { AgentSession } from "../agent-session.ts";
import type { SessionEvent } from "../events/session-event.ts";
import type { AgentSessionOptions } from "../options.ts";

const cleanups: (() => void | Promise<void>)[] = [];

/** Removes what the tests of a file made; call once in each file. */
export function cleanUpAfterEach(): void {
  afterEach(async () => {
    for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
  });
}

export function tempDir(): string {
  const dir = mkdtempSync(join(tmpdir(), "tau-session-"));
  cleanups.push(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

/** A new session file in a folder of its own. */
export function newStore(dir = tempDir()): SessionStore {
  return createSessionStore({ sessionsDir: dir, cwd: "/work" });
}

export interface Harness {
  session: AgentSession;
  script: Script;
  store: SessionStore;
  /** Everything that listeners saw, without message updates. */
  events: SessionEvent[];
  /** Types of the events, without phases, queues and updates. */
  types(): string[];
  /** The waits that were asked for, in milliseconds; none is waited for. */
  waits: number[];
}

export type HarnessOptions = Partial<Omit<AgentSessionOptions, "streamFn">>;

/** A session over the scripted model. Backoff waits are noted and not waited for. */
export async function startSession(
  steps: readonly ScriptStep[] | ScriptFunction,
  options: HarnessOptions = {},
): Promise<Harness> {
  const script = createScript(steps);
  const store = options.store ?? newStore();
  const waits: number[] = [];
  const defaults: Omit<AgentSessionOptions, "store"> = {
    cwd: "/work",
    model: scriptedModel(),
    tools: [],
    systemPrompt: "You are a test.",
    random: () => 1,
    sleep: async (ms) => void waits.push(ms),
  };
  const session = new AgentSession({ ...defaults, ...options, store }, script.streamFn, runCommand);
  const events: SessionEvent[] = [];
  session.subscribe((event) => void (event.type !== "message_update" && events.push(event)));
  cleanups.push(() => session.dispose());
  const types = () => events.map(({ type }) => type).filter((type) => type !== "phase" && type !== "queue_update");
  return { session, script, store, events, types, waits };
}

/** The same session in another process: the file is opened again. */
export async function reopen(
  before: Harness,
  steps: readonly ScriptStep[] | ScriptFunction,
  options: HarnessOptions = {},
): Promise<Harness> {
  await before.session.dispose();
  return startSession(steps, { ...options, store: openSessionStore(before.store.path ?? "") });
}

export const other: Model = scriptedModel({ id: "other", name: "Other" });

/** A tool that says its name, and whatever `run` does before. */
export function tool(name: string, run: (signal: AbortSignal) => unknown = () => undefined): AgentTool {
  return {
    name,
    label: name,
    description: `The tool ${name}.`,
    parameters: { type: "object", properties: { n: { type: "number" } } },
    async execute(_id, _args, signal) {
      const text = await run(signal);
      return { content: [{ type: "text", text: typeof text === "string" ? text : `${name} ran` }], details: undefined };
    },
  };
}

/** The lines of a session file. */
export function fileEntries(store: SessionStore): Record<string, unknown>[] {
  const lines = readFileSync(store.path ?? "", "utf8").split("\n");
  return lines.filter((line) => line !== "").map((line) => JSON.parse(line) as Record<string, unknown>);
}

/** Role and text of messages, short. */
export function said(messages: readonly AgentMessage[]): string[] {
  return messages.map((message) => `${message.role}: ${textOf(message)}`);
}

export function textOf(message: AgentMessage | undefined): string {
  if (!message || !("content" in message)) return "";
  const { content } = message;
  if (typeof content === "string") return content;
  return content.map((block) => (block.type === "text" ? block.text : `<${block.type}>`)).join("");
}

/** A promise and its key. */
export function gate(): { open: () => void; opened: Promise<void> } {
  let open: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { open, opened };
}
