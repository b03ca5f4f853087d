import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { type ScriptReply, type WireApi, type WireReply, type WireServer, wireServer } from "@tau/llm/testing";
import { expect } from "vitest";
import { type Ended, ended, Tau } from "../tau.ts";
import { expectClosedCalls } from "./closed-calls.ts";
import { Dice } from "./dice.ts";
import { anyMoment, type KillMoment, signalAt } from "./kill-moment.ts";
import { processesIn } from "./processes.ts";
import { faultyReply, RAN_FOLDER, scriptPlan, THE_END } from "./script-plan.ts";
import { type FileState, type Json, messagesOf, readSessionFile } from "./session-file.ts";

export interface KillFigures {
  kills: number;
  /** Processes that were asked to end by a signal that they could handle. */
  stops: number;
  sessions: number;
  /** Starts of the command, killed or not. */
  starts: number;
  /** Messages whose `message_end` was in a stream. */
  messages: number;
  /** Requests that the servers found valid, and to how many of them the answer failed. */
  requests: number;
  faults: number;
  /** Lines that a kill cut. */
  torn: number;
  /** Results that were made up for calls that a kill broke off: never started, and perhaps run in part. */
  neverStarted: number;
  partlyRun: number;
}

type Api = WireApi | "scripted";

const APIS: readonly Api[] = ["scripted", "openai-completions", "anthropic-messages", "openai-responses"];
// A session that was killed so often continues undisturbed to its end.
const MAX_KILLS = 12;
const MAX_STARTS = 60;
const FAULTY_SHARE = 0.2;
const POLITE_SHARE = 0.2;
const EXIT_CODES: Partial<Record<NodeJS.Signals, number>> = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 };
const POLITE = Object.keys(EXIT_CODES) as NodeJS.Signals[];
// So many that a run of bad luck does not end a session.
const RETRIES = { maxRetries: 20, baseDelayMs: 1 };
// Only for answers that stall; a busy machine may take this long for a sound one, which is a fault like the others.
const STALL_MS = 500;

/** Runs scripted sessions and kills them at random moments until there were so many kills; throws when one lost anything. */
export async function killRuns({ seed, kills }: { seed: number; kills: number }): Promise<KillFigures> {
  const figures: KillFigures = {
    ...{ kills: 0, stops: 0, sessions: 0, starts: 0, messages: 0 },
    ...{ requests: 0, faults: 0, torn: 0, neverStarted: 0, partlyRun: 0 },
  };
  let next = 0;
  const work = async () => {
    while (figures.kills < kills) {
      const session = new KilledSession({ index: next++, seed, kills, figures });
      await session.play();
    }
  };
  await Promise.all([work(), work()]);
  return figures;
}

interface Place {
  index: number;
  seed: number;
  kills: number;
  figures: KillFigures;
}

/** Replies in the input of the Responses API, where one may be several items. */
function ownTurns(input: readonly Json[]): number {
  const own = ({ type = "message", role }: Json) =>
    type === "reasoning" || type === "function_call" || role === "assistant";
  return input.filter((item, index) => own(item) && !(index > 0 && own(input[index - 1]))).length;
}

/** One session that is killed and gone on with until its script is over. */
class KilledSession {
  readonly #place: Place;
  readonly #dice: Dice;
  readonly #faults: Dice;
  readonly #steps: ScriptReply[];
  readonly #tau = new Tau();
  readonly #api: Api;
  #server: WireServer | undefined;
  #file: FileState | undefined;
  #kills = 0;
  readonly #log: string[] = [];

  constructor(place: Place) {
    this.#place = place;
    this.#dice = new Dice(place.seed + place.index * 7919);
    this.#faults = new Dice(place.seed ^ (place.index * 104_729));
    this.#steps = scriptPlan(this.#dice);
    this.#api = APIS[place.index % APIS.length] ?? "scripted";
  }

  async play(): Promise<void> {
    const { figures, kills, seed, index } = this.#place;
    try {
      await this.#setUp();
      for (let start = 0; !this.#over(); start++) {
        if (start > MAX_STARTS) throw new Error("the session does not come to its end");
        const killed = this.#kills < MAX_KILLS && figures.kills < kills && start < MAX_STARTS / 2;
        await this.#run(killed ? anyMoment(this.#dice) : undefined);
      }
      this.#checkWhole();
    } catch (error) {
      throw new Error(`seed ${seed}, session ${index} (${this.#api}):\n${this.#log.join("\n")}`, { cause: error });
    } finally {
      await this.#server?.close();
      this.#tau.remove();
    }
    figures.sessions++;
    figures.requests += this.#server?.requests.length ?? 0;
  }

  async #setUp(): Promise<void> {
    const tau = this.#tau;
    tau.file("home/.tau/settings.json", { retry: RETRIES, timeouts: { firstByteMs: STALL_MS, idleMs: STALL_MS } });
    tau.file("work/seed.txt", "seed\n");
    mkdirSync(join(tau.cwd, RAN_FOLDER));
    let baseUrl = `file://${tau.file("script.json", this.#steps)}`;
    if (this.#api !== "scripted") {
      this.#server = await wireServer({ steps: ({ body }) => this.#stepFor(body), checkSignatures: false });
      baseUrl = `${this.#server.url}/v1`;
    }
    // A window that is never full: a compaction would move the place in the script.
    const models = [{ id: "m", reasoning: true, contextWindow: 10_000_000 }];
    const mock = { baseUrl, api: this.#api, apiKey: "mock-key-12345", models };
    tau.file("home/.tau/models.json", { providers: { mock } });
  }

  /** As the script file does it: the place is the number of replies so far. Half a reply of a failure may count, too. */
  #stepFor(body: Json): WireReply {
    const place = body.input
      ? ownTurns(body.input)
      : body.messages.filter(({ role }: Json) => role === "assistant").length;
    const step = this.#steps[Math.min(place, this.#steps.length - 1)];
    if (!step) throw new Error("there is no script");
    if (!this.#faults.chance(FAULTY_SHARE)) return step;
    this.#place.figures.faults++;
    return faultyReply(this.#faults, step);
  }

  #over(): boolean {
    const last = messagesOf(this.#file).at(-1);
    return last?.role === "assistant" && last.stopReason === "stop" && JSON.stringify(last.content).includes(THE_END);
  }

  async #run(moment: KillMoment | undefined): Promise<void> {
    const { figures } = this.#place;
    const args = this.#arguments();
    // A script file counts the half replies of a run that was stopped, and is over too soon.
    const polite = this.#server !== undefined && this.#dice.chance(POLITE_SHARE);
    const signal = polite ? this.#dice.pick(POLITE) : "SIGKILL";
    this.#log.push(`${args.join(" ")}   ${moment ? `${signal} ${JSON.stringify(moment)}` : "to the end"}`);
    const child = this.#tau.start(args);
    if (moment) signalAt(child, moment, signal);
    const end = await ended(child);
    figures.starts++;
    this.#log.push(`  -> ${end.signal ?? end.code} ${end.stderr.trim()}`);
    const before = this.#file;
    this.#file = readSessionFile(join(this.#tau.tauDir, "sessions"));
    this.#checkRun(end, before);
    if (end.signal === "SIGKILL") figures.kills++;
    else if (end.code !== 0) figures.stops++;
    if (end.code !== 0) this.#kills++;
    if (end.signal !== "SIGKILL") this.#checkEnd(end, moment && signal);
  }

  /** It ended by itself or in good order: settled once, with the exit code of the signal, and nothing runs on. */
  #checkEnd(end: Ended, signal: NodeJS.Signals | undefined): void {
    const types = end.records().map(({ type }: Json) => type);
    const stopped = end.code !== 0;
    if (stopped) expect([EXIT_CODES[signal ?? "SIGKILL"], signal]).toContain(end.code ?? end.signal);
    // A signal may come before the program listens or a run has begun.
    const begun = !stopped || types.includes("agent_start");
    expect(types.filter((type) => type === "agent_settled")).toHaveLength(begun ? 1 : 0);
    expect(processesIn(this.#tau.root)).toEqual([]);
  }

  #arguments(): string[] {
    const model = ["--mode", "json", "--model", "mock/m"];
    if (!this.#file) return [...model, "--session-id", "killed", "Begin."];
    const again = this.#dice.pick([["--continue"], ["--session", "killed"], ["--session", this.#file.path]]);
    return [...model, ...again, `Continue ${this.#kills}.`];
  }

  /** Nothing that was shown is lost, nothing that was written is changed. */
  #checkRun(end: Ended, before: FileState | undefined): void {
    const { figures } = this.#place;
    const records = end.records();
    const shown = records.flatMap(({ type, message }: Json) => (type === "message_end" ? [message] : []));
    figures.messages += shown.length;
    const known = messagesOf(before);
    const now = messagesOf(this.#file);
    expect(now.slice(0, known.length)).toEqual(known);
    expect(now.slice(known.length, known.length + shown.length)).toEqual(shown);
    if (before) expect(this.#file?.bytes.subarray(0, before.bytes.length).equals(before.bytes)).toBe(true);
    figures.torn += (this.#file?.torn ?? 0) - (before?.torn ?? 0);
  }

  /** The session as it is at its end. */
  #checkWhole(): void {
    const { figures } = this.#place;
    const messages = messagesOf(this.#file);
    this.#server?.assertDone();
    const closed = expectClosedCalls(messages, join(this.#tau.cwd, RAN_FOLDER));
    figures.neverStarted += closed.neverStarted;
    figures.partlyRun += closed.partlyRun;
  }
}
