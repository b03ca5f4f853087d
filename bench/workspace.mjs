import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const text = (i) => `Message ${i}: ${"some words of a conversation about code. ".repeat(4)}`;

/** A scratch folder with a home for tau that knows one model at `url`, and histories of n messages for both clients. */
export function createWorkspace(url) {
  const root = mkdtempSync(join(tmpdir(), "tau-bench-"));
  const home = join(root, "home");
  const cwd = join(root, "work");
  for (const folder of [home, cwd]) mkdirSync(folder);
  const model = { id: "bench", contextWindow: 100_000_000, maxTokens: 1_000_000 };
  const provider = { baseUrl: url, api: "openai-completions", apiKey: "x", models: [model] };
  writeFileSync(join(home, "models.json"), JSON.stringify({ providers: { bench: provider } }));
  return { root, home, cwd, history: (count) => writeHistories(root, cwd, count) };
}

function writeHistories(root, cwd, count) {
  const session = join(root, `session-${count}.jsonl`);
  const plain = join(root, `history-${count}.json`);
  const usage = {
    input: 1,
    output: 1,
    cacheRead: 0,
    cacheWrite: 0,
    totalTokens: 2,
    cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
  };
  const lines = [{ type: "session", version: 3, id: `bench-${count}`, timestamp: "2026-01-01T00:00:00.000Z", cwd }];
  const messages = [];
  for (let i = 0; i < count; i++) {
    const role = i % 2 ? "assistant" : "user";
    const message =
      role === "user"
        ? { role, content: text(i), timestamp: i }
        : {
            role,
            content: [{ type: "text", text: text(i) }],
            api: "openai-completions",
            provider: "bench",
            model: "bench",
            usage,
            stopReason: "stop",
            timestamp: i,
          };
    const id = i.toString(16).padStart(8, "0");
    const parentId = i ? (i - 1).toString(16).padStart(8, "0") : null;
    lines.push({ type: "message", id, parentId, timestamp: "2026-01-01T00:00:00.000Z", message });
    messages.push({ role, content: text(i) });
  }
  writeFileSync(session, `${lines.map((line) => JSON.stringify(line)).join("\n")}\n`);
  writeFileSync(plain, JSON.stringify(messages));
  return { session, plain };
}
