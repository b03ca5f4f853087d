import { toolCall, type WireRequest, wireServer } from "@tau/llm/testing";
import { expect, it } from "vitest";
import { Tau } from "../tau.ts";
import { type Change, expectSamePrefix } from "./prefix-law.ts";
import { type PrefixFigures, PrefixSession } from "./prefix-session.ts";
import { runSize, soaking } from "./size.ts";

const SESSIONS = 100;

it("O3 the bytes up to the last common message stay the same over turns, changes, resumes and all wire APIs", async () => {
  const figures: PrefixFigures = { sessions: 0, pairs: 0, headChanges: 0, compactions: 0, resumes: 0 };
  for (let index = 0; index < SESSIONS; index++) {
    const seed = runSize.seed + index;
    await new PrefixSession(index, seed, figures).play().catch((error: unknown) => {
      throw new Error(`session ${index}, seed ${runSize.seed}`, { cause: error });
    });
  }
  if (soaking) console.log("prefixes:", figures);
  expect(figures.sessions).toBe(SESSIONS);
  for (const count of [figures.pairs, figures.headChanges, figures.compactions, figures.resumes]) {
    expect(count).toBeGreaterThan(10);
  }
}, 600_000);

it.each(["openai-completions", "openai-responses", "anthropic-messages"] as const)(
  "O3 R032 %s: the same over real processes",
  async (api) => {
    const tau = new Tau();
    const server = await wireServer({ steps: ({ body }) => (lastIsResult(body) ? { content: ["done"] } : CALL) });
    const mock = { baseUrl: `${server.url}/v1`, api, apiKey: "mock-key-12345", models: [{ id: "m" }] };
    tau.file("home/.tau/models.json", { providers: { mock } });
    const changes: Change[] = [];
    const run = async (change: Partial<Change>, ...args: string[]) => {
      const { code } = await tau.run(["-p", "--model", "mock/m", "--session-id", "s", ...args, "continue"]);
      expect(code).toBe(0);
      changes.push({ ...NO_CHANGE, ...change }, NO_CHANGE);
    };
    try {
      await run({});
      await run({});
      // The program's prompt says how to use the tools that are on.
      await run({ tools: true, prompt: true }, "--tools", "+grep");
      tau.file("work/AGENTS.md", "A new rule.");
      await run({ prompt: true }, "--tools", "+grep");
      await run({}, "--tools", "+grep");
      server.assertDone();
      for (const [index, next] of server.requests.entries()) {
        const before = server.requests[index - 1];
        if (before) expectSamePrefix(before, next, changes[index] ?? NO_CHANGE);
      }
      expect(server.requests).toHaveLength(10);
    } finally {
      await server.close();
      tau.remove();
    }
  },
);

const NO_CHANGE: Change = { tools: false, prompt: false, midSystem: false };
const CALL = { content: [toolCall("bash", { command: "date +%N" })] };

function lastIsResult({ messages, input }: WireRequest["body"]): boolean {
  const last = JSON.stringify(((messages ?? input) as unknown[]).at(-1));
  return last.includes('"role":"tool"') || last.includes('"tool_result"') || last.includes('"function_call_output"');
}
