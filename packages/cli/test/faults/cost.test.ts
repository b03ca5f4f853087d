import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import type { AgentMessage, AgentTool } from "@tau/agent";
import {
  type AgentSession,
  createAgentSession,
  createSessionStore,
  openSessionStore,
  type SessionStore,
} from "@tau/host";
import type { StreamFn } from "@tau/llm";
import { createScript, reply, type ScriptFunction, scriptedModel, toolCall } from "@tau/llm/testing";
import { afterEach, beforeEach, expect, it } from "vitest";
import { nodeStoreFs } from "../../../host/src/store/store-fs.ts";

let dir = "";
let session: AgentSession | undefined;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "tau-cost-"));
});
afterEach(async () => {
  await session?.dispose();
  session = undefined;
  rmSync(dir, { recursive: true, force: true });
});

/** What a session asked of the disk and of the counter of tokens. */
const asked = { writes: 0, counts: [] as AgentMessage[] };
const fs: typeof nodeStoreFs = {
  ...nodeStoreFs,
  fsync: () => undefined,
  write(fd, bytes, from) {
    asked.writes++;
    return nodeStoreFs.write(fd, bytes, from);
  },
};

const tool = (output: () => string): AgentTool => ({
  name: "say",
  label: "say",
  description: "Says something.",
  parameters: { type: "object", properties: { n: { type: "number" } } },
  execute: async () => ({ content: [{ type: "text", text: output() }], details: undefined }),
});

interface Made {
  store?: SessionStore;
  answers: ScriptFunction;
  output?: () => string;
}

async function start({ store, answers, output = () => "said" }: Made): Promise<AgentSession> {
  Object.assign(asked, { writes: 0, counts: [] });
  session = await createAgentSession({
    cwd: dir,
    model: scriptedModel({ contextWindow: 1_000_000_000 }),
    tools: [tool(output)],
    systemPrompt: "You are a test.",
    store: store ?? createSessionStore({ sessionsDir: dir, cwd: dir, fs }),
    streamFn: forgetful(answers),
    now: () => 1_700_000_000_000,
    countTokens(message) {
      asked.counts.push(message);
      return 10;
    },
  });
  return session;
}

/** A scripted model that keeps no log of its requests: that would be what grows. */
function forgetful(answers: ScriptFunction): StreamFn {
  const script = createScript(answers, { copyContexts: false, now: () => 1_700_000_000_000 });
  return (...request) => {
    script.calls.length = 0;
    return script.streamFn(...request);
  };
}

/** Each prompt is one call and one answer. */
const oneCallEach: ScriptFunction = ({ context: { messages } }) =>
  messages.at(-1)?.role === "user"
    ? reply(toolCall("say", { n: 1 }, `call_${100_000 + messages.length}`))
    : reply("an answer");

it("O1 a turn writes the same lines and bytes at the beginning and at the end of a long session", async () => {
  const { state, prompt } = bound(await start({ answers: oneCallEach }));
  const costs: { bytes: number; writes: number; counts: number }[] = [];
  let before = { bytes: 0, writes: 0, counts: 0 };
  for (let turn = 0; turn < 200; turn++) {
    await prompt("the same prompt");
    const now = { bytes: statSync(state().sessionFile ?? "").size, writes: asked.writes, counts: asked.counts.length };
    const { bytes, writes, counts } = before;
    costs.push({ bytes: now.bytes - bytes, writes: now.writes - writes, counts: now.counts - counts });
    before = now;
  }
  // The first prompt brings the head along; from then on all are alike.
  for (const cost of costs.slice(1)) expect(cost).toEqual(costs[1]);
});

it("O2 each message is counted once, and after a resume only once again", async () => {
  const first = await start({ answers: oneCallEach });
  for (let turn = 0; turn < 30; turn++) await first.prompt("the same prompt");
  expect(new Set(asked.counts).size).toBe(asked.counts.length);
  expect(asked.counts.length).toBeLessThanOrEqual(1 + 30 * 4);
  const path = first.state.sessionFile ?? "";
  await first.dispose();
  const second = await start({ store: openSessionStore(path, { fs }), answers: () => reply("on") });
  for (let turn = 0; turn < 5; turn++) await second.prompt("more");
  expect(new Set(asked.counts).size).toBe(asked.counts.length);
  expect(asked.counts.length).toBeLessThanOrEqual(1 + 30 * 4 + 5 * 2);
});

it("O2 after a resume only what came behind the provider's last count is counted", async () => {
  const counted = { usage: { input: 500, output: 5 } };
  const first = await start({
    answers: (call, index) => ({ ...(oneCallEach(call, index) as object), ...counted }) as never,
  });
  for (let turn = 0; turn < 30; turn++) await first.prompt("the same prompt");
  const path = first.state.sessionFile ?? "";
  await first.dispose();
  const second = await start({ store: openSessionStore(path, { fs }), answers: () => reply("on") });
  await second.prompt("more");
  expect(asked.counts.length).toBeLessThanOrEqual(3);
});

it("O4 a message costs its text once and a constant", async () => {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  const size = 40_000;
  let made = 0;
  // Texts of one byte a character, none of them shared.
  const output = () => `${++made} `.padEnd(size, "abcdefgh");
  const { prompt } = bound(await start({ answers: oneCallEach, output }));
  const heap: number[] = [];
  for (let turn = 0; turn < 300; turn++) {
    await prompt("the same prompt");
    if (turn % 100 !== 99) continue;
    collect();
    heap.push(process.memoryUsage().heapUsed);
  }
  const [, second = 0, third = 0] = heap;
  const each = (third - second) / 100;
  // Four messages a prompt, each with its entry and its place in the file.
  expect(each).toBeLessThan(size + 4 * 3000);
});

function bound(made: AgentSession) {
  return { prompt: (text: string) => made.prompt(text), state: () => made.state };
}
