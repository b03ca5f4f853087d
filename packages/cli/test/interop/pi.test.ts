import { readFileSync } from "node:fs";
import { type StrictRules, type WireApi, type WireReply, wireServer } from "@tau/llm/testing";
import { describe, expect, it } from "vitest";
import { signalAt } from "../faults/kill-moment.ts";
import { soaking } from "../faults/size.ts";
import { ended } from "../tau.ts";
import { type Agent, InteropBed, oldPi, pi, tau } from "./agents.ts";
import { STOPS, type Stop } from "./stops.ts";

const APIS: readonly WireApi[] = ["openai-completions", "openai-responses", "anthropic-messages"];

/** What the vendors' servers accept and pi does, and tau does not. */
const RULES: StrictRules = { repeatedRoles: true, unstatedStrictness: true };

interface Handover {
  readonly api: WireApi;
  readonly stop: Stop;
  readonly from: Agent;
  readonly to: Agent;
}

/** `from` is stopped, `to` continues, and `from` continues once more. Gives what was wrong. */
async function handOver({ api, stop, from, to }: Handover): Promise<string[]> {
  const bed = new InteropBed();
  const answers: WireReply[] = [{ content: ["continued"] }, { content: ["and again"] }];
  let stopped = false;
  let played = 0;
  const server = await wireServer({
    strict: RULES,
    steps: () => (stopped ? answers.shift() : stop.replies[played++]) ?? { content: ["unexpected"] },
  });
  const problems: string[] = [];
  try {
    bed.useApi(server.url, api);
    await stopAt(from, bed, stop);
    stopped = true;
    const file = bed.sessionFile();
    // Nothing was said yet, and there is nothing to continue.
    if (file === undefined) return [];
    const before = readFileSync(file);
    problems.push(...(await continueBy(to, bed, { file, prompt: "Please continue.", answer: "continued" })));
    problems.push(...(await continueBy(from, bed, { file, prompt: "And you.", answer: "and again" })));
    problems.push(...server.violations);
    if (!readFileSync(file).subarray(0, before.length).equals(before)) problems.push("old bytes have changed");
    return problems.map((problem) => `after ${stop.name}: ${problem}`);
  } finally {
    await server.close();
    bed.remove();
  }
}

async function stopAt(agent: Agent, bed: InteropBed, stop: Stop): Promise<void> {
  const child = agent.start(bed, ["Do it."]);
  if (stop.at) signalAt(child, stop.at.moment, stop.at.signal);
  await ended(child);
}

interface Continuation {
  readonly file: string;
  readonly prompt: string;
  readonly answer: string;
}

async function continueBy(agent: Agent, bed: InteropBed, { file, prompt, answer }: Continuation): Promise<string[]> {
  const run = await ended(agent.start(bed, ["--session", file, prompt]));
  if (run.code === 0 && run.stdout.includes(answer)) return [];
  return [`${agent.name} ended with ${run.code} and without its answer; ${run.stderr.trim()}`];
}

/** In every run of the tests: stops that leave something open, all of them by chat completions with pi 1.6 only. */
const SHORT: readonly string[] = ["a connection lost in a call", "SIGKILL in a second call", "SIGINT in a tool"];

/** In a soak all stops by all APIs. A run of one stop starts three programs, which take about a second each. */
function stopsFor(api: WireApi, { name }: Agent): readonly Stop[] {
  if (soaking) return STOPS;
  const names = api === "openai-completions" && name !== oldPi?.name ? SHORT : SHORT.slice(1, 2);
  return STOPS.filter((stop) => names.includes(stop.name));
}

async function handOverAll(api: WireApi, from: Agent, to: Agent): Promise<string[]> {
  const problems: string[] = [];
  const stops = stopsFor(api, from === tau ? to : from);
  for (const stop of stops) problems.push(...(await handOver({ api, stop, from, to })));
  if (stops.length === 0) problems.push("no stop was tried");
  return problems;
}

/** pi 0.73 is tried by chat completions; in a soak by all APIs. */
const apisOf = (agent: Agent): readonly WireApi[] => (soaking || agent !== oldPi ? APIS : APIS.slice(0, 1));

const others = [pi, oldPi].filter((agent) => agent !== undefined);

describe.skipIf(!pi)("sessions between tau and pi (needs TAU_TEST_PI and TAU_TEST_NODE24, docs/testing.md)", () => {
  for (const other of others) {
    for (const api of apisOf(other)) {
      it(`R291 ${other.name} continues what tau left, and back, by ${api}`, { timeout: 900_000 }, async () => {
        expect(await handOverAll(api, tau, other)).toEqual([]);
      });
      it(`R291 tau continues what ${other.name} left, and back, by ${api}`, { timeout: 900_000 }, async () => {
        expect(await handOverAll(api, other, tau)).toEqual([]);
      });
    }
  }

  it("R291 a file with results behind a reply that broke off, as tau once wrote it, is continued by both", async () => {
    const bed = new InteropBed();
    const server = await wireServer({
      strict: RULES,
      steps: [{ content: ["continued"] }, { content: ["and again"] }],
    });
    try {
      bed.useApi(server.url, "openai-completions");
      const file = bed.file("old.jsonl", oldSession(bed.cwd));
      const problems = await continueBy(tau, bed, { file, prompt: "Please continue.", answer: "continued" });
      if (pi) problems.push(...(await continueBy(pi, bed, { file, prompt: "And you.", answer: "and again" })));
      expect([...problems, ...server.violations]).toEqual([]);
    } finally {
      await server.close();
      bed.remove();
    }
  });
});

/** A session file whose aborted reply has a call, with the entry of a result that nothing was run for. */
function oldSession(cwd: string): string {
  const at = "2026-01-01T00:00:00.000Z";
  const usage = {
    input: 1,
    output: 1,
    cacheRead: 0,
    cacheWrite: 0,
    totalTokens: 2,
    cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
  };
  const call = { type: "toolCall", id: "call_1", name: "bash", arguments: { command: "ls" } };
  const source = { api: "openai-completions", provider: "mock", model: "m", usage };
  const text = (words: string) => [{ type: "text", text: words }];
  const messages = [
    { role: "user", content: "Do it.", timestamp: 1 },
    { role: "assistant", content: [call], ...source, stopReason: "aborted", timestamp: 2 },
    {
      role: "toolResult",
      toolCallId: "call_1",
      toolName: "bash",
      content: text("Aborted."),
      isError: true,
      timestamp: 3,
    },
  ];
  const entries = messages.map((message, index) => {
    const parentId = index === 0 ? null : `0000000${index}`;
    return { type: "message", id: `0000000${index + 1}`, parentId, timestamp: at, message };
  });
  const id = "01a00000-0000-7000-8000-000000000000";
  return [{ type: "session", version: 3, id, timestamp: at, cwd }, ...entries]
    .map((line) => `${JSON.stringify(line)}\n`)
    .join("");
}
