import { copyFileSync, existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { AgentTool } from "@tau/agent";
import {
  type AgentSession,
  type AgentSessionOptions,
  createAgentSession,
  createCompactor,
  createSessionStore,
  openSessionStore,
  type SessionEvent,
  type SessionStore,
} from "@tau/host";
import type { Model } from "@tau/llm";
import { type WireServer, wireServer } from "@tau/llm/testing";
import { expect } from "vitest";
import { messageText } from "../../../host/src/session/queues/user-message.ts";
import { type FailingFs, failingFs } from "../../../host/src/store/__fixtures__/failing-fs.ts";
import { ACTS, type Act, type Victim } from "./chaos-acts.ts";
import { chaosReply } from "./chaos-replies.ts";
import { chaosTools } from "./chaos-tools.ts";
import { Dice } from "./dice.ts";
import { EventLaws } from "./event-laws.ts";
import { withClosedCalls } from "./session-file.ts";

export interface ChaosFigures {
  sessions: number;
  requests: number;
  faults: number;
  prompts: number;
  messages: number;
  resumes: number;
  crashes: number;
  compactions: number;
  retries: number;
  acts: Partial<Record<string, number>>;
}

// Enough for each session to come to its end: then the server only says so, and nobody disturbs any more.
const MAX_REQUESTS = 40;
const SUMMARISER = /You write hand-over notes/;
const MAX_EVENTS = 500;
const LOG_WIDTH = 240;
// Only for answers that stall. A busy machine may take longer for a sound one: a fault like the others.
const STALL_MS = 60;

interface Crash {
  readonly path: string;
  readonly shown: number;
  readonly queued: readonly string[];
  /** What the process had in memory, as JSON. */
  readonly snapshot: string;
}

/** One session over real HTTP in which everything goes wrong that a seed makes go wrong. */
export class ChaosSession implements Victim {
  readonly dice: Dice;
  readonly fs: FailingFs = failingFs();
  readonly accepted: string[] = [];
  readonly queued = new Set<string>();
  readonly models: Model[] = [];
  tools: AgentTool[] = [];
  readonly #figures: ChaosFigures;
  readonly #replies: Dice;
  readonly #dir = mkdtempSync(join(tmpdir(), "tau-chaos-"));
  readonly #laws = new EventLaws();
  readonly #crashes: Crash[] = [];
  #server: WireServer | undefined;
  #session: AgentSession | undefined;
  #store: SessionStore | undefined;
  #over: () => void = () => undefined;
  #events = 0;
  #said = 0;
  /** What happened, a line each: told when something is wrong. */
  readonly #log: string[] = [];
  /** All is over: the server answers well. */
  #calm = false;

  constructor(seed: number, figures: ChaosFigures) {
    // A kill leaves the file as it is without it, and hundreds of sessions wait long for a busy disk.
    this.fs.fsync = () => undefined;
    this.dice = new Dice(seed);
    this.#replies = new Dice(seed ^ 0x5bd1e995);
    this.#figures = figures;
  }

  get session(): AgentSession {
    if (!this.#session) throw new Error("the session is not open");
    return this.#session;
  }

  get store(): SessionStore {
    if (!this.#store) throw new Error("the session is not open");
    return this.#store;
  }

  async play(): Promise<void> {
    try {
      await this.#setUp();
      const prompts = this.dice.int(1, 4);
      for (let index = 0; index < prompts; index++) {
        await this.#betweenPrompts();
        await this.#prompt(`prompt ${index}`);
        if (this.dice.chance(0.4)) await this.#resume();
      }
      await this.#finish();
      for (const crash of this.#crashes) await this.#goOnAfter(crash);
      this.#server?.assertDone();
    } catch (error) {
      throw new Error(this.#log.join("\n"), { cause: error });
    } finally {
      this.#over();
      await this.#session?.dispose();
      await this.#server?.close();
      rmSync(this.#dir, { recursive: true, force: true });
    }
  }

  /** What a kill at this moment would leave: the file as it is. */
  crash(): boolean {
    const { path, recording } = this.store;
    if (path === undefined || !existsSync(path) || recording.status !== "ok") return false;
    const copy = join(this.#dir, `crash-${this.#crashes.length}.jsonl`);
    copyFileSync(path, copy);
    const snapshot = JSON.stringify(this.session.snapshot());
    this.#crashes.push({ path: copy, shown: this.#laws.shown.length, queued: [...this.queued], snapshot });
    return true;
  }

  /** Words that nobody has said before. */
  words(how: string): string {
    return `${how} ${this.#said++}`;
  }

  async #setUp(): Promise<void> {
    const over = new Promise<void>((resolve) => {
      this.#over = resolve;
    });
    const server = await wireServer({
      steps: ({ api, raw }, index) => {
        if (this.#calm || index >= MAX_REQUESTS) return { content: ["enough"] };
        if (SUMMARISER.test(raw) && this.#replies.chance(0.7)) return { content: ["The notes."] };
        const reply = chaosReply(this.#replies, api);
        if (reply.wire) this.#figures.faults++;
        return reply;
      },
      checkSignatures: true,
      ...(this.dice.chance(0.2) && { writeSize: this.dice.int(1, 40) }),
    });
    this.#server = server;
    const contextWindow = this.dice.pick([3_000, 5_000, 100_000]);
    for (const api of ["openai-completions", "anthropic-messages", "openai-responses"]) {
      this.models.push(model(api, server.url, contextWindow));
    }
    this.tools = chaosTools({ steer: () => this.act(ACTS.steer), stuck: () => void this.session.abort(), over });
    if (this.dice.chance(0.2)) this.fs.refuse.add("open");
    await this.#open(createSessionStore({ sessionsDir: join(this.#dir, "sessions"), cwd: "/work", fs: this.fs }));
  }

  async #open(store: SessionStore): Promise<void> {
    this.#store = store;
    this.#session = await createAgentSession({ ...this.#options(store), tools: this.tools });
    this.#session.subscribe((event) => this.#on(event));
  }

  #options(store: SessionStore): Omit<AgentSessionOptions, "tools"> {
    const [first, second] = this.models;
    if (!first || !second) throw new Error("no models");
    return {
      cwd: tmpdir(),
      model: this.dice.pick(this.models),
      thinkingLevel: this.dice.pick(["off", "low"]),
      systemPrompt: { sections: { role: "You are a test.", day: "It is the first day." } },
      store,
      compactor: createCompactor({ enabled: true, reserveTokens: 1500, keepRecentTokens: 1000 }),
      getApiKey: () => "mock-key-12345",
      findModel: (provider, id) => this.models.find((each) => each.provider === provider && each.id === id),
      settings: {
        limits: { abortGraceMs: 20 },
        ...(!this.#calm && { timeouts: { firstByteMs: STALL_MS, idleMs: STALL_MS } }),
        fallbackModels: this.dice.chance(0.3) ? [second] : [],
        steeringMode: this.dice.pick(["one-at-a-time", "all"]),
        followUpMode: this.dice.pick(["one-at-a-time", "all"]),
      },
      userCommands: async () => ({ output: "/work", exitCode: 0, cancelled: false, truncated: false }),
      sleep: () => new Promise((resolve) => setImmediate(resolve)),
      random: () => this.dice.next(),
    };
  }

  /** What a person does while nothing runs: goes back in the tree, compacts. */
  async #betweenPrompts(): Promise<void> {
    await this.session.dispatch({ type: "wait" });
    const entries = this.store.entries().filter(({ type }) => type === "message");
    if (entries.length > 0 && this.dice.chance(0.15)) {
      this.#log.push("  > navigate");
      await this.session.dispatch({ type: "navigate", entryId: this.dice.pick(entries).id });
    }
    if (this.dice.chance(0.2)) {
      this.#log.push("  > compact");
      // Whether there was something to compact, and whether the model could, is not what this is about.
      const compaction = this.session.dispatch({ type: "compact" }).catch(() => undefined);
      if (this.dice.chance(0.5)) this.act(this.dice.pick([ACTS.steer, ACTS.followUp, ACTS.interrupt]));
      if (this.dice.chance(0.2)) this.act(ACTS.abort);
      await compaction;
    }
    await this.session.dispatch({ type: "wait" });
  }

  async #prompt(text: string): Promise<void> {
    await this.session.dispatch({ type: "wait" });
    this.#figures.prompts++;
    const run = this.session.prompt(text);
    this.accepted.push(text);
    await run;
    await this.session.dispatch({ type: "wait" });
  }

  /** In a new process the store is read again; what was queued is queued again. */
  async #resume(): Promise<void> {
    this.#figures.resumes++;
    await this.session.dispatch({ type: "wait" });
    const { queued } = this.session.state;
    await this.#close();
    await this.#open(openSessionStore(this.store.path ?? "", { fs: this.fs }));
    expect(this.store.warnings).toEqual([]);
    expect(this.session.state.queued).toEqual(queued);
  }

  async #close(): Promise<void> {
    this.fs.room = Number.POSITIVE_INFINITY;
    this.fs.refuse.clear();
    // What a command of the user printed is noted when the command has ended.
    await this.session.dispatch({ type: "abort_bash" });
    const before = this.session.messages;
    await this.session.dispose();
    expect(this.store.recording.status).toBe("ok");
    const file = openSessionStore(this.store.path ?? "", { readOnly: true });
    // Changes of prompt and tools before the first message are part of the head when the file is read again.
    // In a file a notice has the time of its entry, which may be a millisecond later.
    const said = (messages: AgentSession["messages"]) =>
      messages
        .filter(({ role }) => role !== "system")
        .map((message) => (message.role === "custom" ? { ...message, timestamp: 0 } : message));
    expect(said(file.projection().messages)).toEqual(JSON.parse(JSON.stringify(said(before))));
  }

  #on(event: SessionEvent): void {
    this.#laws.see(event);
    if (event.type !== "message_update") this.#log.push(JSON.stringify(event).slice(0, LOG_WIDTH));
    if (event.type === "compaction_end" && event.result) this.#figures.compactions++;
    if (event.type === "auto_retry_start") this.#figures.retries++;
    if (event.type === "message_update" || ++this.#events > MAX_EVENTS) return;
    const roll = this.dice.next();
    let from = 0;
    for (const act of Object.values(ACTS)) {
      if (roll >= from && roll < from + act.share) this.#laws.note(() => this.act(act));
      from += act.share;
    }
  }

  act(act: Act): void {
    const { acts } = this.#figures;
    this.#log.push(`  > ${act.name}`);
    if (act.run(this)) acts[act.name] = (acts[act.name] ?? 0) + 1;
  }

  async #finish(): Promise<void> {
    this.#events = MAX_EVENTS;
    this.#calm = true;
    await this.session.dispatch({ type: "wait" });
    const { steering, followUp } = this.session.state.queued;
    await this.#close();
    this.#laws.expectQuiet();
    const file = openSessionStore(this.store.path ?? "", { readOnly: true });
    expect(file.warnings).toEqual([]);
    const kept = conversation(file);
    expect(kept).toEqual(this.#laws.shown);
    expect([...saidByUser(kept), ...steering, ...followUp].sort()).toEqual([...this.accepted].sort());
    this.#figures.messages += kept.length;
    this.#figures.requests += this.#server?.requests.length ?? 0;
    this.#figures.sessions++;
  }

  /** The copy of the file that a kill would have left has all that was shown, and continues. */
  async #goOnAfter({ path, shown, queued, snapshot }: Crash): Promise<void> {
    this.#figures.crashes++;
    const store = openSessionStore(path);
    expect(store.warnings).toEqual([]);
    expect(conversation(store).slice(0, shown)).toEqual(this.#laws.shown.slice(0, shown));
    const options = { ...this.#options(store), tools: this.tools };
    let session = await createAgentSession(options);
    expectOnce(queued, [...saidByUser(conversation(store)), ...Object.values(session.state.queued).flat()]);
    if (this.dice.chance(0.5)) {
      await session.dispose();
      const given = JSON.parse(snapshot);
      session = await createAgentSession({ ...options, store: openSessionStore(path), snapshot: given });
      expect(JSON.parse(JSON.stringify(session.snapshot().agent))).toEqual(given.agent);
    }
    const laws = new EventLaws();
    session.subscribe((event) => laws.see(event));
    expect(await session.prompt("after the crash")).toMatchObject({ status: "done" });
    await session.dispatch({ type: "wait" });
    laws.expectQuiet();
    await session.dispose();
  }
}

function model(api: string, baseUrl: string, contextWindow: number): Model {
  return {
    id: `model-of-${api}`,
    name: api,
    api,
    provider: api,
    baseUrl,
    reasoning: true,
    input: ["text", "image"],
    cost: { input: 1, output: 1, cacheRead: 0, cacheWrite: 0 },
    contextWindow,
    maxTokens: 1000,
  };
}

/** What was said, as it is in the store; the head and the notes of the program are left out. */
function conversation(store: SessionStore) {
  return store
    .entries()
    .flatMap((entry) =>
      entry.type === "message" && entry.message.role !== "system" ? withClosedCalls(entry.message) : [],
    );
}

function saidByUser(messages: ReturnType<typeof conversation>): string[] {
  return messages.flatMap((message) => (message.role === "user" ? [messageText(message)] : []));
}

/** A queued message is in the queue or in the transcript, never in both and never in none (law Q4). */
function expectOnce(wanted: readonly string[], found: readonly string[]): void {
  expect(found.filter((text) => wanted.includes(text)).sort()).toEqual([...wanted].sort());
}
