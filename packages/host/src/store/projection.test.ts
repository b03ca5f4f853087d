import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { AgentMessage } from "@tau/agent";
import fc from "fast-check";
import { afterAll, beforeAll, expect, it } from "vitest";
import { assistant, call, result, user } from "./__fixtures__/drafts.ts";
import type { Entry, EntryDraft } from "./entries.ts";
import { createMemoryStore, createSessionStore, openSessionStore } from "./open-session.ts";
import type { SessionStore } from "./session-store.ts";

let dir: string;
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), "tau-projection-"));
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const memory = () => createMemoryStore({ cwd: "/w" });
const system = (content: string, more: object = {}): EntryDraft => ({
  type: "message",
  message: { role: "system", content, ...more, timestamp: 0 },
});
const compaction = (summary: string, firstKeptEntryId: string): EntryDraft => ({
  type: "compaction",
  summary,
  firstKeptEntryId,
  tokensBefore: 100,
});

/** A short text for each message that is shown. */
function shown(store: SessionStore, leafId?: string | null): string[] {
  return store.projection(leafId).messages.map(brief);
}

function brief(message: AgentMessage): string {
  if (message.role === "compactionSummary" || message.role === "branchSummary")
    return `${message.role}:${message.summary}`;
  if (message.role === "bashExecution") return message.command;
  if (typeof message.content === "string") return message.content;
  return message.content.map((block) => ("text" in block ? block.text : block.type)).join("+");
}

it("F5 without a compaction the model sees the path from the root to the leaf, nothing of other branches", () => {
  const store = memory();
  const a = store.append(user("a"));
  store.append(assistant("b1"));
  store.moveLeaf(a.id);
  const b2 = store.append(assistant("b2"));
  expect(shown(store)).toEqual(["a", "b2"]);
  expect(store.projection().entryIds).toEqual([a.id, b2.id]);
  expect(shown(store, a.id)).toEqual(["a"]);
  expect(shown(store, null)).toEqual([]);
});

it("F5 the newest compaction gives its summary, the entries from the first kept one on, and the later ones", () => {
  const store = memory();
  const [, b, c] = ["a", "b", "c"].map((text) => store.append(user(text)));
  store.append(compaction("first", b?.id ?? ""));
  store.append(user("d"));
  expect(shown(store)).toEqual(["compactionSummary:first", "b", "c", "d"]);
  const second = store.append(compaction("second", c?.id ?? ""));
  store.append(user("e"));
  expect(shown(store)).toEqual(["compactionSummary:second", "c", "d", "e"]);
  expect(store.projection().entryIds[0]).toBe(second.id);
  store.moveLeaf(b?.id ?? "");
  expect(shown(store)).toEqual(["a", "b"]);
});

it("F5 a compaction that keeps nothing, or names an entry that is not on the path, shows its summary alone", () => {
  const store = createMemoryStore({ cwd: "/w", newId: ids("a", "own", "b") });
  store.append(user("a"));
  store.append(compaction("own", "own"));
  expect(shown(store)).toEqual(["compactionSummary:own"]);
  store.append(user("b"));
  expect(shown(store)).toEqual(["compactionSummary:own", "b"]);
  store.append(compaction("none", "missing"));
  expect(shown(store)).toEqual(["compactionSummary:none"]);
});

function ids(...list: string[]): () => string {
  return () => list.shift() ?? Math.random().toString(16).slice(2, 10);
}

it("F5 system messages before the first other message are the head, later ones stay in their place", () => {
  const store = memory();
  const tool = (name: string) => ({ name, description: name, parameters: {} });
  store.append(system("be brief", { sections: { cwd: "/w", skills: "s" }, toolsAdded: [tool("read"), tool("bash")] }));
  store.append(
    system("", { sections: { skills: null, date: "d" }, toolsRemoved: [{ name: "read" }], toolsAdded: [tool("edit")] }),
  );
  store.append(user("a"));
  store.append(system("later"));
  expect(store.projection().system).toEqual({
    role: "system",
    content: "be brief",
    sections: { cwd: "/w", date: "d" },
    toolsAdded: [tool("bash"), tool("edit")],
    timestamp: 0,
  });
  expect(shown(store)).toEqual(["a", "later"]);
});

it("F5 a compaction's checkpoint becomes the head in place of the system messages before it", () => {
  const store = memory();
  store.append(system("old"));
  const a = store.append(user("a"));
  store.append(system("between"));
  const checkpoint = { role: "system" as const, content: "whole", timestamp: 5 };
  store.append({ ...compaction("s", a.id), systemMessage: checkpoint } as EntryDraft);
  store.append(system("after"));
  expect(store.projection().system).toEqual(checkpoint);
  expect(shown(store)).toEqual(["compactionSummary:s", "a", "after"]);
});

it("F5 a compaction without a checkpoint keeps the prompt that held at that point", () => {
  const store = memory();
  store.append(system("one"));
  const a = store.append(user("a"));
  store.append(system("two"));
  store.append(compaction("s", a.id));
  expect(store.projection().system).toMatchObject({ content: "one\n\ntwo" });
  expect(shown(store)).toEqual(["compactionSummary:s", "a"]);
});

it("F6 the last edit of an entry on this branch holds, and raw history stays", () => {
  const store = memory();
  const a = store.append(user("a"));
  const b = store.append(assistant("b"));
  const raw = structuredClone(store.entry(b.id));
  store.append({ type: "context_edit", targetId: a.id, replacement: "first" });
  store.append({ type: "context_edit", targetId: b.id, replacement: "said" });
  const third = store.append({ type: "context_edit", targetId: a.id, replacement: null });
  expect(store.projection().messages).toMatchObject([{ role: "assistant", content: [{ type: "text", text: "said" }] }]);
  expect(store.entry(b.id)).toEqual(raw);
  store.append({ type: "context_edit", targetId: a.id, replacement: "last" });
  expect(shown(store)).toEqual(["last", "said"]);
  expect(shown(store, third.id)).toEqual(["said"]);
  store.moveLeaf(b.id);
  expect(shown(store)).toEqual(["a", "b"]);
});

it("F6 an edit changes the content alone, in the shape that the role needs", () => {
  const store = memory();
  const blocks = [
    { type: "text" as const, text: "t" },
    { type: "image" as const, data: "AA", mimeType: "image/png" },
  ];
  const drafts = [
    user("u"),
    assistant("", call("c1")),
    result("c1", "r"),
    { type: "custom_message" as const, customType: "x", content: "c", display: true },
  ];
  const targets = drafts.map((draft) => store.append(draft));
  for (const target of targets) store.append({ type: "context_edit", targetId: target.id, replacement: blocks });
  // The call is edited away, so its result must go as well.
  expect(store.projection().messages).toMatchObject([
    { role: "user", content: blocks },
    { role: "assistant", model: "demo", stopReason: "toolUse", content: [blocks[0]] },
    { role: "custom", customType: "x", content: blocks },
  ]);
  const only = memory();
  only.append(assistant("", call("c1")));
  const answer = only.append(result("c1", "long"));
  const edit = only.append({ type: "context_edit", targetId: answer.id, replacement: "cut" });
  expect(edit).toMatchObject({ replacement: { content: "cut" } });
  expect(only.projection().messages[1]).toMatchObject({ toolCallId: "c1", content: [{ type: "text", text: "cut" }] });
});

it("F8 a failed attempt is hidden together with its results, and stays in the history", () => {
  const store = memory();
  store.append(user("a"));
  const failed = store.append(assistant("half", call("c1"), call("c2")));
  store.append(result("c1", "r1"));
  store.append(result("c2", "r2"));
  store.append({ type: "context_edit", targetId: failed.id, replacement: null });
  store.append(assistant("", call("c1")));
  store.append(result("c1", "again"));
  expect(shown(store)).toEqual(["a", "toolCall", "again"]);
  expect(store.entries()).toHaveLength(7);
});

/** A reply that broke off in its calls. */
function broken(stopReason: "aborted" | "error", ...ids: string[]): EntryDraft {
  const draft = assistant("half", ...ids.map((id) => call(id)));
  if (draft.type === "message" && draft.message.role === "assistant") draft.message.stopReason = stopReason;
  return draft;
}

it.each(["aborted", "error"] as const)(
  "R291 results that stand behind a reply that ended as %s are not shown, and named as stray; its calls are closed once",
  (stopReason) => {
    const store = memory();
    store.append(user("a"));
    store.append(broken(stopReason, "c1", "c2"));
    const strays = [store.append(result("c1", "stray 1")), store.append(result("c2", "stray 2"))];
    store.append(user("b"));
    const { messages, entryIds, strayResults } = store.projection();
    expect(strayResults).toEqual(strays.map(({ id }) => id));
    expect(messages.map(({ role }) => role)).toEqual(["user", "assistant", "toolResult", "toolResult", "user"]);
    expect(messages.flatMap((message) => (message.role === "toolResult" ? [message.toolCallId] : []))).toEqual([
      "c1",
      "c2",
    ]);
    expect(shown(store).join()).not.toContain("stray");
    expect(entryIds.slice(2, 4)).toEqual(["", ""]);
  },
);

it("R291 an id of a reply that broke off may be used again: then the result behind it is shown", () => {
  const store = memory();
  store.append(broken("aborted", "c1", "c2"));
  store.append(assistant("", call("c1")));
  const real = store.append(result("c1", "real"));
  const stray = store.append(result("c2", "stray"));
  const { entryIds, strayResults } = store.projection();
  expect(entryIds).toContain(real.id);
  expect(strayResults).toEqual([stray.id]);
  expect(shown(store).at(-1)).toBe("real");
});

it("R291 an answer without calls between them changes nothing about results that are stray", () => {
  const store = memory();
  store.append(broken("error", "c1"));
  store.append(assistant("said"));
  const stray = store.append(result("c1", "stray"));
  expect(store.projection().strayResults).toEqual([stray.id]);
});

it("F7 each entry type has its place: in the context, beside it, or in the state", () => {
  const store = memory();
  const usage = {
    input: 1,
    output: 0,
    cacheRead: 0,
    cacheWrite: 0,
    totalTokens: 1,
    cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
  };
  store.append({ type: "model_change", provider: "p", modelId: "m1" });
  store.append({ type: "thinking_level_change", thinkingLevel: "low" });
  const a = store.append(user("a"));
  store.append({ type: "usage", kind: "cache_warm", provider: "p", model: "m", usage });
  store.append({ type: "custom", customType: "x", data: { n: 1 } });
  store.append({ type: "label", targetId: a.id, label: "here" });
  store.append({ type: "session_info", name: "  Title " });
  store.append({ type: "branch_summary", fromId: a.id, summary: "left" });
  store.append({ type: "custom_message", customType: "x", content: "note", display: false, details: { d: 1 } });
  expect(shown(store)).toEqual(["a", "branchSummary:left", "note"]);
  expect(store.projection().messages.at(-1)).toMatchObject({
    role: "custom",
    customType: "x",
    display: false,
    details: { d: 1 },
  });
  expect(store.name()).toBe("Title");
  expect([...store.labels()]).toEqual([[a.id, "here"]]);
  expect(store.newestCustom("x")?.data).toEqual({ n: 1 });
  expect(store.projection()).toMatchObject({ model: { provider: "p", modelId: "m1" }, thinkingLevel: "low" });
  store.append({ type: "label", targetId: a.id });
  store.append({ type: "session_info", name: "" });
  expect(store.name()).toBeUndefined();
  expect(store.labels().size).toBe(0);
});

it("R111 model and level are those of the point one is at: after a jump, and after a restart too", () => {
  const store = createSessionStore({ cwd: "/w", sessionsDir: dir });
  store.append({ type: "model_change", provider: "p", modelId: "A" });
  store.append({ type: "thinking_level_change", thinkingLevel: "low" });
  const a = store.append(user("one"));
  store.append({ type: "model_change", provider: "p", modelId: "B" });
  store.append({ type: "thinking_level_change", thinkingLevel: "high" });
  store.append(user("two"));
  expect(store.projection()).toMatchObject({ model: { modelId: "B" }, thinkingLevel: "high" });
  store.moveLeaf(a.id);
  const jumped = store.projection();
  expect(jumped).toMatchObject({ model: { provider: "p", modelId: "A" }, thinkingLevel: "low" });
  store.close();
  const again = openSessionStore(store.path ?? "", { readOnly: true });
  expect(again.leafId).toBe(a.id);
  expect(again.projection()).toEqual(jumped);
});

it("R111 an answer names the model and the level as well, also from before a compaction", () => {
  const store = memory();
  store.append({ type: "model_change", provider: "p", modelId: "A" });
  const answer = assistant("b");
  if (answer.type === "message" && answer.message.role === "assistant") answer.message.thinkingLevel = "medium";
  store.append(answer);
  store.append(compaction("s", "none"));
  expect(store.projection()).toMatchObject({
    model: { provider: "scripted", modelId: "demo" },
    thinkingLevel: "medium",
  });
});

/** One step of a random session; numbers choose among what is there. */
type Step = { kind: "say" | "turn" | "edit" | "compact" | "move" | "note" | "summary"; pick: number; more: number };

const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.record({
    kind: fc.constantFrom<Step["kind"]>("say", "turn", "turn", "edit", "compact", "move", "note", "summary"),
    pick: fc.nat(1000),
    more: fc.nat(1000),
  }),
  { maxLength: 30 },
);

function take(store: SessionStore, { kind, pick, more }: Step, number: number): void {
  const branch = store.branch();
  const chosen = branch[pick % Math.max(1, branch.length)];
  const actions: Record<Step["kind"], () => void> = {
    say: () => void store.append(user(`u${number}`)),
    turn: () => {
      const calls = Array.from({ length: 1 + (more % 3) }, (_, i) => call(`c${number}-${i}`));
      store.append(assistant(`a${number}`, ...calls));
      for (const { id } of calls) store.append(result(id, `r${id}`));
    },
    edit: () => {
      const replacement = [null, `e${number}`, [{ type: "text" as const, text: `b${number}` }]][more % 3] ?? null;
      if (chosen) store.append({ type: "context_edit", targetId: chosen.id, replacement });
    },
    compact: () => {
      const legal = branch.filter((entry) => !(entry.type === "message" && entry.message.role === "toolResult"));
      store.append(compaction(`s${number}`, legal[pick % Math.max(1, legal.length)]?.id ?? "none"));
    },
    move: () => {
      // Between two turns, as a session moves.
      const all = store.entries().filter((entry) => entry.type === "message" && entry.message.role === "user");
      store.moveLeaf(more % 9 === 0 ? null : (all[pick % Math.max(1, all.length)]?.id ?? null));
    },
    note: () => void store.append({ type: "custom_message", customType: "n", content: `n${number}`, display: true }),
    summary: () => void store.append({ type: "branch_summary", fromId: chosen?.id ?? "none", summary: `l${number}` }),
  };
  actions[kind]();
}

/** The laws F5 and F6 once more, as slowly and plainly as they are written. */
function reference(entries: readonly Entry[], leafId: string | null): string[] {
  const path: Entry[] = [];
  for (let id = leafId; id !== null; ) {
    const entry = entries.find((each) => each.id === id);
    if (!entry) break;
    path.unshift(entry);
    id = entry.parentId;
  }
  const cut = path.findLastIndex((entry) => entry.type === "compaction");
  const newest = path[cut];
  const kept = newest?.type === "compaction" ? path.findIndex((entry) => entry.id === newest.firstKeptEntryId) : 0;
  const before = newest ? (kept < 0 ? [] : path.slice(kept, cut)) : [];
  const seen = [...before.filter((entry) => entry.type !== "compaction"), ...path.slice(cut + 1)];
  const texts = newest?.type === "compaction" ? [`compactionSummary:${newest.summary}`] : [];
  const hidden = new Set<string>();
  for (const entry of seen) {
    const edit = path.findLast((each) => each.type === "context_edit" && each.targetId === entry.id);
    const text = referenceText(entry, edit?.type === "context_edit" ? edit.replacement : undefined, hidden);
    if (text !== undefined) texts.push(text);
  }
  return texts;
}

function referenceText(entry: Entry, edit: unknown, hidden: Set<string>): string | undefined {
  const edited = edit === undefined ? undefined : JSON.stringify(edit).replace(/.*"(\w+)".*/, "$1");
  if (entry.type === "branch_summary") return edit === null ? undefined : `branchSummary:${entry.summary}`;
  if (entry.type === "custom_message") return edit === null ? undefined : (edited ?? String(entry.content));
  if (entry.type !== "message") return undefined;
  const { message } = entry;
  if (message.role === "assistant" && edit !== undefined) {
    for (const block of message.content) if (block.type === "toolCall") hidden.add(block.id);
  }
  if (message.role === "toolResult" && hidden.has(message.toolCallId)) return undefined;
  return edit === null ? undefined : (edited ?? brief(message));
}

it("F5 F6 over random trees, edits and compactions the projection is what the laws say, also after a restart", () => {
  fc.assert(
    fc.property(steps, (list) => {
      const store = createSessionStore({ cwd: "/w", sessionsDir: dir });
      store.append(user("u"));
      for (const [number, step] of list.entries()) take(store, step, number);
      expect(shown(store)).toEqual(reference(store.entries(), store.leafId));
      store.close();
      const again = openSessionStore(store.path ?? "", { readOnly: true });
      expect(again.leafId).toBe(store.leafId);
      expect(again.projection()).toEqual(store.projection());
      expect(again.entries()).toEqual(store.entries());
      const somewhere = store.entries()[(list[0]?.pick ?? 0) % store.entries().length];
      expect(shown(again, somewhere?.id)).toEqual(reference(store.entries(), somewhere?.id ?? null));
      rmSync(store.path ?? "");
    }),
    { numRuns: 100 },
  );
});

it("F5 no result is shown without its call as long as compactions cut where they may", () => {
  fc.assert(
    fc.property(steps, (list) => {
      const store = memory();
      for (const [number, step] of list.entries()) take(store, step, number);
      const calls = new Set<string>();
      for (const message of store.projection().messages) {
        if (message.role === "toolResult") expect(calls).toContain(message.toolCallId);
        if (message.role !== "assistant") continue;
        for (const block of message.content) if (block.type === "toolCall") calls.add(block.id);
      }
    }),
    { numRuns: 150 },
  );
});
