import type { AgentMessage } from "@tau/agent";
import { createScript, type ScriptStep, scriptedModel } from "@tau/llm/testing";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createMemoryStore } from "../store/open-session.ts";
import type { SessionStore } from "../store/session-store.ts";
import { summariseBranch } from "./branch-summary.ts";
import { DEFAULT_COMPACTION, keepBudget, threshold } from "./budget.ts";
import type { CompactionRequest } from "./compactor.ts";
import { createCompactor } from "./create-compactor.ts";
import { findCut } from "./cut.ts";
import { packPieces } from "./summarise.ts";

const usage = {
  input: 0,
  output: 0,
  cacheRead: 0,
  cacheWrite: 0,
  totalTokens: 0,
  cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
};
const user = (text: string): AgentMessage => ({ role: "user", content: text, timestamp: 1 });
const answer = (text: string): AgentMessage => assistant([{ type: "text", text }]);
const calls = (...ids: string[]): AgentMessage =>
  assistant(ids.map((id) => ({ type: "toolCall" as const, id, name: "read", arguments: { path: `${id}.ts` } })));
const result = (id: string, text: string): AgentMessage => ({
  role: "toolResult",
  toolCallId: id,
  toolName: "read",
  content: [{ type: "text", text }],
  isError: false,
  timestamp: 1,
});

function assistant(content: Extract<AgentMessage, { role: "assistant" }>["content"]): AgentMessage {
  return {
    role: "assistant",
    content,
    api: "scripted",
    provider: "scripted",
    model: "demo",
    usage,
    stopReason: "stop",
    timestamp: 1,
  };
}

const sizeOf = (message: AgentMessage): number => Math.ceil(JSON.stringify(message).length / 4);

function storeWith(messages: readonly AgentMessage[]): SessionStore {
  const store = createMemoryStore({ cwd: "/work" });
  for (const message of messages) store.append({ type: "message", message });
  return store;
}

/** A writer that gives the same notes however many pieces the record is taken in. */
const notes = (text: string): ScriptStep[] => Array.from({ length: 40 }, () => ({ content: [text] }));

function requestFor(store: SessionStore, steps: ScriptStep[], more: Partial<CompactionRequest> = {}) {
  const script = createScript(steps);
  const messages = store.projection().messages;
  const request: CompactionRequest = {
    reason: "manual",
    store,
    model: scriptedModel({ contextWindow: 8_000, maxTokens: 2_000 }),
    thinkingLevel: "off",
    streamFn: script.streamFn,
    streamOptions: {},
    tokens: messages.reduce((sum, message) => sum + sizeOf(message), 0),
    system: { role: "system", content: "", timestamp: 0 },
    countTokens: sizeOf,
    signal: new AbortController().signal,
    ...more,
  };
  return { request, script };
}

/** Turns of a parallel batch each, about 250 tokens a turn. */
function batchTurns(count: number): AgentMessage[] {
  return Array.from({ length: count }, (_, i) => [
    user(`question ${i}`),
    calls(`a${i}`, `b${i}`),
    result(`a${i}`, "x".repeat(400)),
    result(`b${i}`, "y".repeat(400)),
    answer(`answer ${i}`),
  ]).flat();
}

const append = (store: SessionStore, found: Awaited<ReturnType<ReturnType<typeof createCompactor>["compact"]>>) => {
  if (!found) throw new Error("nothing was compacted");
  const { summary, firstKeptEntryId, tokensBefore, details } = found;
  store.append({ type: "compaction", summary, firstKeptEntryId, tokensBefore, details });
};

function expectPaired(messages: readonly AgentMessage[]): void {
  const open = new Set<string>();
  for (const message of messages) {
    if (message.role === "assistant") {
      for (const block of message.content) if (block.type === "toolCall") open.add(block.id);
    }
    if (message.role === "toolResult") expect(open.delete(message.toolCallId)).toBe(true);
  }
  expect([...open]).toEqual([]);
}

describe("compaction", () => {
  it("F12 starts at the window less the reserve, and small windows keep a quarter free", () => {
    expect(threshold(200_000, DEFAULT_COMPACTION)).toBe(200_000 - 16_384);
    expect(threshold(32_000, DEFAULT_COMPACTION)).toBe(24_000);
    expect(keepBudget(200_000, DEFAULT_COMPACTION)).toBe(20_000);
    expect(keepBudget(8_000, DEFAULT_COMPACTION)).toBe(3_000);
  });

  it("F12 keeps the recent part word for word and replaces the rest by the summary", async () => {
    const store = storeWith(batchTurns(40));
    const before = store.projection().messages;
    const { request, script } = requestFor(store, notes("the notes"));
    append(store, await createCompactor().compact(request));
    expect(script.calls.length).toBeGreaterThan(0);
    const after = store.projection().messages;
    expect(after[0]).toMatchObject({ role: "compactionSummary", summary: expect.stringContaining("the notes") });
    expect(after.slice(1)).toEqual(before.slice(before.length - (after.length - 1)));
    const size = (messages: readonly AgentMessage[]) => messages.reduce((sum, message) => sum + sizeOf(message), 0);
    expect(size(after)).toBeLessThan(size(before) / 2);
  });

  it("R117 no cut parts a call from its results, over two compactions in a row", async () => {
    const store = storeWith(batchTurns(30));
    const compactor = createCompactor();
    for (const text of ["first notes", "second notes"]) {
      const { request, script } = requestFor(store, notes(text));
      append(store, await compactor.compact(request));
      expectPaired(store.projection().messages);
      const sent = script.calls[0]?.context.messages ?? [];
      expect(sent.map((message) => message.role)).toEqual(["user"]);
      for (const message of batchTurns(20)) store.append({ type: "message", message });
    }
  });

  it("F12 is iterative: the older notes are given to the writer and not summarised as conversation", async () => {
    const store = storeWith(batchTurns(40));
    const compactor = createCompactor();
    append(store, await compactor.compact(requestFor(store, notes("older notes")).request));
    for (const message of batchTurns(40)) store.append({ type: "message", message });
    const { request, script } = requestFor(store, notes("newer notes"));
    append(store, await compactor.compact(request));
    const prompt = JSON.stringify(script.calls[0]?.context.messages);
    expect(prompt).toContain("<notes>\\nolder notes");
    const details = store.branch().findLast((entry) => entry.type === "compaction");
    expect(details).toMatchObject({ details: { readFiles: expect.arrayContaining(["a0.ts", "b39.ts"]) } });
  });

  it("R123 an over-long turn is split, and the user's last instruction stays word for word", async () => {
    const long = [
      user("rename every foo to bar, but never in tests"),
      ...batchTurns(40).filter((m) => m.role !== "user"),
    ];
    const store = storeWith(long);
    const compactor = createCompactor();
    for (const text of ["notes", "more notes"]) {
      append(store, await compactor.compact(requestFor(store, notes(text)).request));
      const [summary] = store.projection().messages;
      expect(summary).toMatchObject({
        summary: expect.stringContaining("rename every foo to bar, but never in tests"),
      });
      expectPaired(store.projection().messages);
      for (const message of batchTurns(30).filter((m) => m.role !== "user")) store.append({ type: "message", message });
    }
  });

  it("R115 an empty summary is a failure, and failures do not start over and over", async () => {
    const store = storeWith(batchTurns(40));
    const compactor = createCompactor();
    const use = { tokens: 7_500, contextWindow: 8_000, model: scriptedModel() };
    for (let i = 0; i < 2; i++) {
      expect(compactor.shouldCompact(use)).toBe(true);
      const empty = requestFor(store, [{ content: [] }, { content: [] }]);
      await expect(compactor.compact(empty.request)).rejects.toThrow("empty summary");
    }
    expect(compactor.shouldCompact(use)).toBe(false);
    expect(compactor.shouldCompact({ ...use, tokens: 1_000 })).toBe(false);
    expect(compactor.shouldCompact(use)).toBe(true);
  });

  it("F12 a summary that is longer than what it replaces is refused", async () => {
    const store = storeWith(batchTurns(20));
    const { request } = requestFor(store, notes("z".repeat(60_000)));
    await expect(createCompactor().compact(request)).rejects.toThrow("not shorter");
  });

  it("F12 a context that stays above the threshold is not cut again before it has grown", async () => {
    const store = storeWith(batchTurns(40));
    const compactor = createCompactor();
    const { request } = requestFor(store, notes("notes"), { tokens: 50_000 });
    const after = (await compactor.compact(request))?.estimatedTokensAfter ?? 0;
    expect(after).toBeGreaterThan(6_000);
    const use = (tokens: number) => ({ tokens, contextWindow: 8_000, model: scriptedModel() });
    expect(compactor.shouldCompact(use(after + 100))).toBe(false);
    expect(compactor.shouldCompact(use(after + 900))).toBe(true);
  });

  it("R114 a failed summary request rejects with the provider's words and appends nothing", async () => {
    const store = storeWith(batchTurns(40));
    const entries = store.entries().length;
    const { request } = requestFor(store, [
      { content: [], stopReason: "error", errorMessage: "out of credit", errorKind: "quota" },
    ]);
    await expect(createCompactor().compact(request)).rejects.toThrow("out of credit");
    expect(store.entries()).toHaveLength(entries);
  });

  it("R122 a record larger than the window is taken in pieces, and huge results are shortened", async () => {
    const huge = [user("look"), calls("big"), result("big", "q".repeat(2_000_000)), answer("seen"), ...batchTurns(12)];
    const store = storeWith(huge);
    const { request, script } = requestFor(store, notes("notes"));
    append(store, await createCompactor().compact(request));
    for (const call of script.calls) expect(JSON.stringify(call.context).length).toBeLessThan(8_000 * 4);
    const pieces = packPieces(["a".repeat(50), "b".repeat(30), "c".repeat(120)], 100);
    expect(pieces.every((piece) => piece.length <= 100)).toBe(true);
    expect(pieces.join("").replaceAll("\n", "")).toBe("a".repeat(50) + "b".repeat(30) + "c".repeat(120));
  });

  it("F12 there is nothing to cut in a short or a just compacted conversation", async () => {
    const short = storeWith([user("hello"), answer("hi")]);
    expect(await createCompactor().compact(requestFor(short, []).request)).toBeUndefined();
  });

  it("F12 an aborted compaction rejects and says so", async () => {
    const store = storeWith(batchTurns(40));
    const { request } = requestFor(store, notes("late"), { signal: AbortSignal.abort() });
    await expect(createCompactor().compact(request)).rejects.toThrow("aborted");
  });

  it("F12 a branch that is left is summarised with its files", async () => {
    const { request } = requestFor(storeWith([]), notes("what was tried"));
    const summary = await summariseBranch(batchTurns(2), request);
    expect(summary.text).toContain("what was tried");
    expect(summary.details.readFiles).toEqual(["a0.ts", "b0.ts", "a1.ts", "b1.ts"]);
  });

  it("F12 any cut of any conversation leaves pairs whole and a part before it", () => {
    const turn = fc.record({
      batch: fc.integer({ min: 0, max: 4 }),
      size: fc.integer({ min: 0, max: 3_000 }),
      asks: fc.boolean(),
    });
    const property = fc.property(
      fc.array(turn, { maxLength: 20 }),
      fc.integer({ min: 0, max: 5_000 }),
      (turns, budget) => {
        const messages = turns.flatMap(({ batch, size, asks }, i) => {
          const ids = Array.from({ length: batch }, (_, k) => `t${i}c${k}`);
          const results = ids.map((id) => result(id, "x".repeat(size)));
          return [...(asks ? [user("u".repeat(size))] : []), ...(batch ? [calls(...ids), ...results] : [answer("ok")])];
        });
        const cut = findCut(messages, budget, sizeOf);
        if (!cut) return;
        expect(cut.index).toBeGreaterThan(0);
        expectPaired(messages.slice(cut.index));
      },
    );
    fc.assert(property, { numRuns: 300 });
  });
});
