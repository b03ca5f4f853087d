import type { AssistantMessage } from "@tau/llm";
import { describe, expect, it } from "vitest";
import { user } from "../../store/__fixtures__/drafts.ts";
import { createMemoryStore } from "../../store/open-session.ts";
import { Transcript } from "./transcript.ts";

const NOON = Date.UTC(2030, 0, 1, 12);

function answer(tokens: number, timestamp: number): AssistantMessage {
  const cost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 };
  const usage = { input: tokens, output: 0, cacheRead: 0, cacheWrite: 0, totalTokens: tokens, cost };
  const source = { api: "a", provider: "p", model: "m", usage, stopReason: "stop" as const };
  return { role: "assistant", content: [{ type: "text", text: "word" }], ...source, timestamp };
}

describe("what the context holds after a compaction", () => {
  // The entry of the compaction has the time of the machine, which may be before or after that of the replies.
  it.each([
    ["set back before the compaction", NOON * 2, 1],
    ["as it should be", 1, NOON * 2],
    ["set back after it", 1, 1],
  ])("R220 no count of before it is used, and the newest of after it is: clock %s", (_, before, after) => {
    const store = createMemoryStore({ cwd: "/work" });
    store.append(user("go"));
    const kept = store.append({ type: "message", message: answer(100_000, before) });
    const transcript = new Transcript(store, () => 10);
    transcript.load("m");
    expect(transcript.tokens).toBe(100_000);
    transcript.append({ type: "compaction", summary: "s", firstKeptEntryId: kept.id, tokensBefore: 100_000 });
    transcript.load("m");
    expect(transcript.meter.reported).toBeUndefined();
    expect(transcript.tokens).toBe(20);
    transcript.append({ type: "message", message: answer(400, after) });
    transcript.append(user("more"));
    transcript.load("m");
    expect(transcript.tokens).toBe(410);
  });
});
