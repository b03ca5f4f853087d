import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createScript, reply, scriptedModel } from "@tau/llm/testing";
import fc from "fast-check";
import { afterEach, beforeEach, expect, it } from "vitest";
import { createAgentSession } from "../assembly/create-agent-session.ts";
import { estimateMessage } from "../session/context/tokens.ts";
import { assistant, call, result, user } from "./__fixtures__/drafts.ts";
import { createSessionStore, openSessionStore } from "./open-session.ts";

let dir: string;
let path: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "tau-repair-"));
  path = join(dir, "2026-01-01T00-00-00-000Z_s1.jsonl");
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const HEADER = { type: "session", version: 3, id: "s1", timestamp: "2026-01-01T00:00:00.000Z", cwd: "/w" };

function write(entries: object[]): void {
  const lines = entries.map((entry, i) => ({
    type: "message",
    id: `e${i}`,
    parentId: i === 0 ? null : `e${i - 1}`,
    timestamp: HEADER.timestamp,
    ...entry,
  }));
  writeFileSync(path, [HEADER, ...lines].map((line) => `${JSON.stringify(line)}\n`).join(""));
}

const said = (text: string) => ({ type: "text", text });
const ask = (id: string) => ({ type: "toolCall", id, name: "read", arguments: {} });

const DAMAGED_USER = [{ type: "text" }, { type: "text", text: 5 }, null, "x", {}, { type: "image" }, ask("c")];
const DAMAGED_REPLY = [
  { type: "toolCall" },
  { type: "toolCall", id: "c" },
  { type: "thinking" },
  { type: "constructor" },
  { type: "image", data: "aa", mimeType: "image/png" },
];

it("F9 content blocks without their fields are left out with the one warning, and the session continues", async () => {
  const source = { api: "scripted", provider: "scripted", model: "demo", stopReason: "toolUse", timestamp: 1 };
  write([
    { message: { role: "user", content: [...DAMAGED_USER, said("one")], timestamp: 1 } },
    { message: { role: "assistant", content: [...DAMAGED_REPLY, said("two"), ask("r")], ...source } },
    { message: { role: "toolResult", toolCallId: "r", toolName: "read", content: [{ type: "text", text: 5 }] } },
    { type: "custom_message", customType: "x", content: [{ type: "text" }, said("four")], display: true },
    { type: "context_edit", targetId: "e0", replacement: { content: [{ type: "text" }, said("edited")] } },
  ]);
  const before = readFileSync(path);
  const store = openSessionStore(path);
  expect(store.warnings).toHaveLength(1);
  expect(store.warnings[0]).toContain("15 damaged parts of messages left out");
  const shown = store.projection().messages.map((message) => "content" in message && message.content);
  expect(shown).toEqual([[said("edited")], [said("two"), ask("r")], [], [said("four")]]);
  const script = createScript([reply("fine")]);
  const options = { model: scriptedModel(), tools: [], systemPrompt: "You are a test.", streamFn: script.streamFn };
  const session = await createAgentSession({ cwd: dir, store, ...options });
  await session.prompt("continue");
  await session.dispose();
  expect(script.calls).toHaveLength(1);
  expect(readFileSync(path).subarray(0, before.length)).toEqual(before);
});

it("F9 figures that are not numbers count as 0, so that sums stay sums", () => {
  const usage = { input: "7", output: 2, cost: { total: null, input: 1 } };
  write([{ message: { role: "assistant", content: "hi", usage } }, { type: "usage", kind: "x", usage: 5 }]);
  const [message] = openSessionStore(path, { readOnly: true }).projection().messages;
  const cost = { input: 1, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 };
  expect(message).toMatchObject({
    usage: { input: 0, output: 2, cacheRead: 0, cacheWrite: 0, totalTokens: 0, cost },
    timestamp: 0,
  });
});

/** Any field of any depth, replaced by something else or taken away. */
function damage(value: unknown, { steps, by }: { steps: number[]; by: unknown }): unknown {
  const [step, ...rest] = steps;
  if (step === undefined || typeof value !== "object" || value === null) return by;
  const copy: Record<string, unknown> | unknown[] = Array.isArray(value) ? [...value] : { ...value };
  const keys = Object.keys(copy);
  const key = keys[step % Math.max(1, keys.length)];
  if (key !== undefined) Reflect.set(copy, key, damage(Reflect.get(copy, key), { steps: rest, by }));
  return copy;
}

function wholeSession(): Record<string, unknown>[] {
  const store = createSessionStore({ sessionsDir: dir, cwd: "/w", path });
  const declared = { name: "bash", description: "Runs.", parameters: { type: "object" } };
  const system = { role: "system" as const, content: "be", sections: { a: "b" }, toolsAdded: [declared], timestamp: 1 };
  store.append({ type: "message", message: system });
  const first = store.append(user("one"));
  store.append(assistant("two", call("c1")));
  store.append(result("c1", "three"));
  const run = { command: "ls", output: "x", cancelled: false, truncated: false };
  store.append({ type: "message", message: { role: "bashExecution", ...run, timestamp: 1 } });
  store.append({ type: "custom_message", customType: "x", content: [{ type: "text", text: "y" }], display: true });
  store.append({ type: "context_edit", targetId: first.id, replacement: { content: "z" } });
  store.append({ type: "branch_summary", fromId: first.id, summary: "left" });
  const kept = { firstKeptEntryId: first.id, tokensBefore: 9 };
  store.append({ type: "compaction", summary: "short", ...kept, systemMessage: system });
  store.close();
  const lines = readFileSync(path, "utf8").trimEnd().split("\n");
  return lines.map((line) => JSON.parse(line));
}

it("F9 whatever field of a line is damaged, the session opens and its messages can be counted", () => {
  const lines = wholeSession();
  const by = fc.constantFrom(undefined, null, 5, "", "x", [], [null], [{ type: "text" }], {}, true);
  const steps = fc.array(fc.nat({ max: 12 }), { minLength: 1, maxLength: 6 });
  const cut = fc.record({ line: fc.integer({ min: 1, max: lines.length - 1 }), steps, by });
  fc.assert(
    fc.property(cut, ({ line, ...how }) => {
      const text = lines.map((each, i) => JSON.stringify(i === line ? damage(each, how) : each)).join("\n");
      writeFileSync(path, text);
      const store = openSessionStore(path, { readOnly: true });
      const total = store.projection().messages.reduce((sum, message) => sum + estimateMessage(message), 0);
      expect(Number.isFinite(total)).toBe(true);
      const { system } = store.projection();
      if (system) expect(Number.isFinite(estimateMessage(system))).toBe(true);
    }),
    { numRuns: 1500 },
  );
});

it("R307 a stored call that is nested thousands deep does not end the prompts of its session", () => {
  for (const levels of [300, 9000, 200_000]) {
    write([user("go"), assistant("x", call("DEEP"))]);
    const deep = `${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`;
    writeFileSync(
      path,
      readFileSync(path, "utf8").replace('"arguments":{}', () => `"arguments":${deep}`),
    );
    const { messages } = openSessionStore(path, { readOnly: true }).projection();
    for (const message of messages) expect(estimateMessage(message)).toBeGreaterThan(0);
    expect(JSON.stringify(messages)).toContain('"id":"DEEP","name":"bash","arguments":{}');
  }
});
