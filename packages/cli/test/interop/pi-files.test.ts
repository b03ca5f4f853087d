import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { AgentMessage } from "@tau/agent";
import { createSessionStore, type Entry, type SessionStore } from "@tau/host";
import { toolCall, wireServer } from "@tau/llm/testing";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { assistant, call, result, user } from "../../../host/src/store/__fixtures__/drafts.ts";
import { soaking } from "../faults/size.ts";
import { ended } from "../tau.ts";
import { InteropBed, pi, tau } from "./agents.ts";
import { byPi } from "./pi-sessions.ts";

const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const image = { type: "image" as const, data: PNG, mimeType: "image/png" };
const text = (words: string) => ({ type: "text" as const, text: words });

let dir: string;
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), "tau-pi-files-"));
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

/** A session with all that one can hold; ends at a note of an extension. */
function rich(bed: InteropBed): SessionStore {
  const store = createSessionStore({ cwd: bed.cwd, sessionsDir: join(bed.tauDir, "sessions"), id: "rich" });
  store.append({ type: "model_change", provider: "mock", modelId: "m" });
  store.append({ type: "thinking_level_change", thinkingLevel: "low" });
  store.append({ type: "message", message: { role: "user", content: [text("Look at this."), image], timestamp: 1 } });
  store.append(assistant("", call("call_1")));
  const shown = { role: "toolResult", toolCallId: "call_1", toolName: "bash", isError: false, timestamp: 3 } as const;
  store.append({ type: "message", message: { ...shown, content: [text("a picture"), image] } });
  store.append(assistant("answer one"));
  const first = store.append(user("original words"));
  store.append(assistant("answer two"));
  store.append({ type: "custom", customType: "an-extension", data: { n: 1 } });
  store.append({ type: "custom_message", customType: "x", content: "note for the model", display: true });
  store.append({ type: "label", targetId: first.id, label: "here" });
  store.append({ type: "session_info", name: "A name" });
  return store;
}

interface Scene {
  readonly name: string;
  /** What happens to the session before it is continued. */
  readonly act: (store: SessionStore, path: string) => void;
  readonly sent: readonly string[];
  readonly notSent: readonly string[];
}

const idOf = (store: SessionStore, words: string): string =>
  store.entries().find((entry) => JSON.stringify(entry).includes(words))?.id ?? "";

const ALL = ["Look at this.", PNG, "a picture", "answer one", "original words", "answer two", "note for the model"];

const SCENES: readonly Scene[] = [
  { name: "images, notes and data of extensions", act: (store) => store.close(), sent: ALL, notSent: ["an-extension"] },
  {
    name: "a context edit and a branch by tau",
    act(store) {
      const note = idOf(store, "note for the model");
      store.append(user("the wrong way"));
      store.append(assistant("the wrong answer"));
      store.moveLeaf(note);
      store.append({ type: "context_edit", targetId: idOf(store, "original words"), replacement: "edited words" });
      store.close();
    },
    sent: ["Look at this.", PNG, "edited words", "note for the model"],
    notSent: ["original words", "the wrong"],
  },
  {
    name: "a compaction by tau",
    act(store) {
      const firstKeptEntryId = idOf(store, "original words");
      store.append({ type: "compaction", summary: "The summary.", firstKeptEntryId, tokensBefore: 1000 });
      store.close();
    },
    sent: ["The summary.", "original words", "answer two", "note for the model"],
    notSent: ["Look at this.", PNG, "answer one"],
  },
  {
    name: "a context edit by pi",
    act(store, path) {
      store.close();
      byPi([path], "context edit");
    },
    sent: ["answer one", "edited words"],
    notSent: ["original words"],
  },
  {
    name: "a branch by pi",
    act(store, path) {
      store.append(user("the wrong way"));
      store.append(assistant("the wrong answer"));
      store.close();
      byPi([path], "branch");
    },
    sent: ALL,
    notSent: ["the wrong"],
  },
  {
    name: "a compaction by pi",
    act(store, path) {
      store.close();
      byPi([path], "compaction");
    },
    sent: ["The summary.", "original words", "note for the model"],
    notSent: ["Look at this.", PNG, "answer one"],
  },
];

/** By both programs, one after the other; gives what was wrong. */
async function continueScene({ act, sent, notSent }: Scene): Promise<string[]> {
  const bed = new InteropBed();
  const requests: string[] = [];
  const server = await wireServer({
    strict: { repeatedRoles: true, unstatedStrictness: true },
    steps({ raw }) {
      requests.push(raw);
      return { content: [`reply ${requests.length}`] };
    },
  });
  try {
    bed.useApi(server.url, "openai-completions");
    const store = rich(bed);
    const path = store.path ?? "";
    act(store, path);
    const before = readFileSync(path);
    const problems: string[] = [];
    const programs = pi ? [pi, tau] : [];
    for (const agent of programs) {
      const run = await ended(agent.start(bed, ["--session", path, "Please continue."]));
      const [raw = ""] = requests.slice(-1);
      if (run.code !== 0) problems.push(`${agent.name} ended with ${run.code}: ${run.stderr}`);
      for (const words of sent) if (!raw.includes(words)) problems.push(`${agent.name} did not send "${words}"`);
      for (const words of notSent) if (raw.includes(words)) problems.push(`${agent.name} sent "${words}"`);
    }
    if (requests.length !== programs.length) problems.push(`${requests.length} requests`);
    const after = readFileSync(path);
    if (!after.subarray(0, before.length).equals(before)) problems.push("old bytes have changed");
    return [...problems, ...server.violations];
  } finally {
    await server.close();
    bed.remove();
  }
}

/** One step of a random session; numbers choose among what is there. */
interface Step {
  kind: "say" | "turn" | "edit" | "compact" | "move" | "note" | "summary" | "model";
  pick: number;
  more: number;
}
const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.record({
    kind: fc.constantFrom<Step["kind"]>("say", "turn", "turn", "edit", "compact", "move", "note", "summary", "model"),
    pick: fc.nat(1000),
    more: fc.nat(1000),
  }),
  { minLength: 1, maxLength: 25 },
);

const isUser = (entry: Entry): boolean => entry.type === "message" && entry.message.role === "user";
const hasCall = (entry: Entry): boolean => JSON.stringify(entry).includes('"toolCall"');
const isContext = (entry: Entry): boolean => entry.type === "message" || entry.type === "custom_message";

function take(store: SessionStore, { kind, pick, more }: Step, number: number): void {
  const at = <T>(list: readonly T[]): T | undefined => list[pick % Math.max(1, list.length)];
  const branch = store.branch();
  const actions: Record<Step["kind"], () => unknown> = {
    say: () => store.append(user(`user ${number} “é” 🙂`)),
    turn() {
      store.append(assistant(`turn ${number}`, call(`c${number}`)));
      store.append(result(`c${number}`, `result ${number}`));
      return store.append(assistant(`end ${number}`));
    },
    edit() {
      const target = at(branch.filter((entry) => isContext(entry) && !hasCall(entry)));
      const replacement = more % 3 === 0 && target && isUser(target) ? null : `edited ${number}`;
      return target && store.append({ type: "context_edit", targetId: target.id, replacement });
    },
    compact() {
      const firstKeptEntryId = at(branch.filter(isUser))?.id;
      const summary = `summary ${number}`;
      return firstKeptEntryId && store.append({ type: "compaction", summary, firstKeptEntryId, tokensBefore: 9 });
    },
    move: () => store.moveLeaf(at(store.entries().filter(isUser))?.id ?? null),
    note: () => store.append({ type: "custom_message", customType: "n", content: `note ${number}`, display: true }),
    summary: () =>
      store.append({ type: "branch_summary", fromId: at(branch)?.id ?? "root", summary: `left ${number}` }),
    model: () => store.append({ type: "model_change", provider: "p", modelId: `m${more % 3}` }),
  };
  actions[kind]();
}

/** What a message says and who says it, in words that both programs use. */
function saying(message: AgentMessage | Record<string, unknown>): unknown[] {
  const { role, content, summary, toolCallId }: Record<string, unknown> = { ...message };
  return [role, typeof content === "string" ? [text(content)] : content, summary, toolCallId];
}

describe.skipIf(!pi)("session files of tau and pi (needs TAU_TEST_PI and TAU_TEST_NODE24, docs/testing.md)", () => {
  it.each(SCENES)(
    "R291 R294 both programs continue a session with $name, and both send the same",
    { timeout: 300_000 },
    async (scene) => {
      expect(await continueScene(scene)).toEqual([]);
    },
  );

  it("R294 over random trees pi's reader shows the model what tau shows it", { timeout: 300_000 }, () => {
    const stores = fc.sample(steps, { numRuns: soaking ? 1000 : 100, seed: 20_260 }).map((list, index) => {
      const store = createSessionStore({ cwd: "/w", sessionsDir: dir, id: `random-${index}` });
      store.append(user("first"));
      for (const [number, step] of list.entries()) take(store, step, number);
      store.close();
      return store;
    });
    const views = byPi(stores.map(({ path }) => path ?? ""));
    for (const [index, store] of stores.entries()) {
      const { messages, model } = store.projection();
      expect(views[index]?.messages.map(saying), store.path).toEqual(messages.map(saying));
      if (model) expect(views[index]?.model).toEqual(model);
    }
  });

  it("R295 what was queued when tau was killed is dropped with a warning once pi has continued", {
    timeout: 300_000,
  }, async () => {
    const bed = new InteropBed();
    const requests: string[] = [];
    const wait = toolCall("bash", { command: "sleep 60" });
    const server = await wireServer({
      steps({ raw }) {
        requests.push(raw);
        return { content: requests.length === 1 ? [wait] : [`reply ${requests.length}`] };
      },
    });
    try {
      bed.useApi(server.url, "openai-completions");
      await killWithQueue(bed, "turn left instead");
      const path = bed.sessionFile() ?? "";
      if (pi) expect((await ended(pi.start(bed, ["--session", path, "Please continue."]))).code).toBe(0);
      const again = await ended(tau.start(bed, ["--session", path, "And you."]));
      expect(again.code).toBe(0);
      expect(`${again.stdout}${again.stderr}`).toMatch(/dropped|not sent/);
      expect(requests).toHaveLength(3);
      expect(requests.join()).not.toContain("turn left instead");
    } finally {
      await server.close();
      bed.remove();
    }
  });
});

/** A session that is killed while a tool runs and a message waits for its end. */
async function killWithQueue(bed: InteropBed, queued: string): Promise<void> {
  const child = bed.start(["--mode", "rpc", "--model", "mock/m"], { openStdin: true });
  const say = (command: object) => child.stdin?.write(`${JSON.stringify(command)}\n`);
  let output = "";
  let steered = false;
  child.stdout?.on("data", (chunk) => {
    output += String(chunk);
    if (!steered && output.includes('"tool_execution_start"')) {
      steered = true;
      say({ type: "steer", message: queued });
    }
    if (/"command":"steer"[^\n]*"success":true/.test(output)) child.kill("SIGKILL");
  });
  say({ type: "prompt", message: "Do it." });
  await new Promise((resolve) => child.on("close", resolve));
}
