import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  type AgentSession,
  createAgentSession,
  createCompactor,
  createSessionStore,
  openSessionStore,
  type SessionEvent,
  type SessionStore,
} from "@tau/host";
import type { Compat, Model } from "@tau/llm";
import { text, thinking, toolCall, type WireApi, type WireReply, type WireRequest, wireServer } from "@tau/llm/testing";
import { nodeStoreFs } from "../../../host/src/store/store-fs.ts";
import { chaosTools } from "./chaos-tools.ts";
import { Dice } from "./dice.ts";
import { type Change, expectSamePrefix } from "./prefix-law.ts";

interface Variant {
  api: WireApi;
  compat: Compat;
}

/** The wire APIs, each as it is and as compatible servers want it. */
export const VARIANTS: readonly Variant[] = [
  { api: "openai-completions", compat: {} },
  { api: "anthropic-messages", compat: {} },
  { api: "openai-responses", compat: {} },
  { api: "openai-completions", compat: { supportsMidConvoSystemMessages: true } },
  { api: "anthropic-messages", compat: { supportsMidConvoSystemMessages: true } },
  { api: "openai-responses", compat: { supportsMidConvoSystemMessages: true } },
  { api: "openai-completions", compat: { requiresMistralToolIds: true, requiresThinkingAsText: true } },
];

export interface PrefixFigures {
  sessions: number;
  pairs: number;
  headChanges: number;
  compactions: number;
  resumes: number;
}

// No power is cut here, and a hundred sessions wait long for a busy disk.
const fs = { ...nodeStoreFs, fsync: () => undefined };
const SUMMARISER = /You write hand-over notes/;

/** A session without faults, whose requests are compared byte by byte. */
export class PrefixSession {
  readonly #dice: Dice;
  readonly #variant: Variant;
  readonly #figures: PrefixFigures;
  readonly #dir = mkdtempSync(join(tmpdir(), "tau-prefix-"));
  #before: WireRequest | undefined;
  #change = { tools: false, prompt: false };
  #session: AgentSession | undefined;
  #store: SessionStore | undefined;
  readonly #problems: unknown[] = [];

  constructor(index: number, seed: number, figures: PrefixFigures) {
    this.#dice = new Dice(seed);
    this.#variant = VARIANTS[index % VARIANTS.length] ?? { api: "openai-completions", compat: {} };
    this.#figures = figures;
  }

  async play(): Promise<void> {
    const { compat } = this.#variant;
    const server = await wireServer({
      steps: (request) => this.#answer(request),
      strict: {
        midSystem: compat.supportsMidConvoSystemMessages === true,
        ...(compat.requiresMistralToolIds && { toolIdPattern: "^[A-Za-z0-9]{9}$" }),
      },
    });
    try {
      const store = createSessionStore({ sessionsDir: this.#dir, cwd: "/work", fs });
      await this.#open(store, server.url);
      for (let prompt = 0; prompt < this.#dice.int(2, 5); prompt++) {
        if (prompt > 0) await this.#betweenPrompts(server.url);
        await this.#session?.prompt(`prompt ${prompt}`);
        await this.#session?.dispatch({ type: "wait" });
      }
      server.assertDone();
      if (this.#problems.length > 0) throw this.#problems[0];
    } finally {
      await this.#session?.dispose();
      await server.close();
      rmSync(this.#dir, { recursive: true, force: true });
    }
    this.#figures.sessions++;
  }

  async #open(store: SessionStore, url: string): Promise<void> {
    const { api, compat } = this.#variant;
    const model: Model = {
      ...{ id: "m", name: "m", api, provider: "mock", baseUrl: url, reasoning: true, input: ["text", "image"], compat },
      ...{ cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 }, contextWindow: 8000, maxTokens: 4000 },
    };
    this.#store = store;
    this.#session = await createAgentSession({
      ...{ cwd: tmpdir(), model, thinkingLevel: "low", store, tools: this.#tools() },
      systemPrompt: { sections: this.#sections },
      compactor: createCompactor({ enabled: true, reserveTokens: 1500, keepRecentTokens: 1500 }),
      getApiKey: () => "mock-key-12345",
      sleep: () => Promise.resolve(),
    });
    this.#session.subscribe((event) => this.#on(event));
  }

  #sections: Record<string, string> = { role: "You are a test.", day: "It is the first day." };
  #toolNames = ["ok", "fails", "large", "slow", "ordered", "steers"];

  #tools() {
    const hooks = {
      steer: () => void this.#session?.steer("steered"),
      stuck: () => undefined,
      over: Promise.resolve(),
    };
    return chaosTools(hooks).filter(({ name }) => this.#toolNames.includes(name));
  }

  /** What may happen between two runs: other tools, another prompt, another process. */
  async #betweenPrompts(url: string): Promise<void> {
    const dice = this.#dice;
    if (dice.chance(0.3)) {
      const names = ["ok", "large", "steers", "slow", "ordered", "fails"].filter(() => dice.chance(0.7));
      this.#change.tools ||= [...names].sort().join() !== [...this.#toolNames].sort().join();
      this.#toolNames = names;
      this.#session?.configure({ tools: this.#tools() });
    }
    if (dice.chance(0.3)) {
      const day = `It is day ${dice.int(1, 3)}.`;
      this.#change.prompt ||= day !== this.#sections.day;
      this.#sections = { ...this.#sections, day };
      this.#session?.configure({ systemPrompt: { sections: this.#sections } });
    }
    if (dice.chance(0.2))
      await this.#session?.dispatch({ type: "set_thinking_level", level: dice.pick(["off", "low", "high"]) });
    if (!dice.chance(0.5)) return;
    this.#figures.resumes++;
    await this.#session?.dispose();
    await this.#open(openSessionStore(this.#store?.path ?? "", { fs }), url);
  }

  #on(event: SessionEvent): void {
    if (event.type === "compaction_end" && event.result) {
      this.#figures.compactions++;
      this.#before = undefined;
    }
    if (event.type === "turn_start" && this.#dice.chance(0.1)) this.#session?.steer("turn to something else");
    if (event.type === "tool_execution_start" && this.#dice.chance(0.05))
      void this.#session?.dispatch({ type: "interrupt", message: "stop and do this" });
  }

  #answer(request: WireRequest): WireReply {
    if (SUMMARISER.test(request.raw)) return { content: ["The notes."] };
    this.#compare(request);
    this.#before = request;
    this.#change = { tools: false, prompt: false };
    return reply(this.#dice);
  }

  #compare(request: WireRequest): void {
    if (!this.#before) return;
    const midSystem = this.#variant.compat.supportsMidConvoSystemMessages === true;
    const change: Change = { ...this.#change, midSystem };
    this.#figures.pairs++;
    if (change.tools || change.prompt) this.#figures.headChanges++;
    try {
      expectSamePrefix(this.#before, request, change);
    } catch (error) {
      this.#problems.push(error);
    }
  }
}

function reply(dice: Dice): WireReply {
  const kind = dice.next();
  if (kind < 0.1) return { content: [], wire: { mode: "status", status: 503 } };
  if (kind < 0.15) return { content: ["half of it"], chunkSize: 2, wire: { mode: "reset", afterDeltas: 2 } };
  if (kind < 0.4) return { content: [text("An answer — with “signs” and 🙂.")] };
  const calls = dice.list(dice.int(1, 3), () => {
    const call = toolCall(dice.pick(["ok", "fails", "large", "slow", "ordered", "steers"]), {
      n: dice.int(0, 1e6),
      t: 1.5,
    });
    return dice.chance(0.1) ? { ...call, rawArguments: '{"n": 1' } : call;
  });
  return { content: [...(dice.chance(0.5) ? [thinking("I think.")] : []), ...calls] };
}
