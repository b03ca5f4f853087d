import { describe, expect, it } from "vitest";
import type { SessionStore } from "../store/session-store.ts";
import { memorySession, reply, say } from "./__fixtures__/sessions.ts";
import { chainsTo } from "./chains.ts";
import { outlineOf } from "./outline.ts";

/** The chains as the ids of their entries, and the one that is current. */
function shape(store: SessionStore, leafId?: string | null) {
  const { chains, ids, active } = outlineOf(store, leafId);
  return {
    chains: chains.map(({ parent, entries }) => `${parent}: ${entries.map((number) => ids[number]).join(" ")}`),
    active,
  };
}

describe("outlineOf", () => {
  it("takes a session without forks as one chain, and an empty one as none", () => {
    const store = memorySession();
    expect(shape(store)).toEqual({ chains: [], active: -1 });
    say(store, "a");
    reply(store, "b");
    expect(shape(store)).toEqual({ chains: ["-1: n0 n1"], active: 0 });
  });

  it("parts chains where the tree forks", () => {
    const store = memorySession();
    const a = say(store, "a");
    reply(store, "b");
    store.moveLeaf(a.id);
    reply(store, "c");
    say(store, "d");
    expect(shape(store)).toEqual({ chains: ["-1: n0", "0: n1", "0: n3 n4"], active: 2 });
    expect([...chainsTo(outlineOf(store).chains, 2)]).toEqual([2, 0]);
  });

  it("parts a chain where the current branch ends above others", () => {
    const store = memorySession();
    const a = say(store, "a");
    reply(store, "b");
    store.moveLeaf(a.id);
    expect(shape(store)).toEqual({ chains: ["-1: n0", "0: n1"], active: 0 });
    expect(shape(store, "n1")).toEqual({ chains: ["-1: n0 n1"], active: 0 });
    store.moveLeaf(null);
    expect(shape(store)).toEqual({ chains: ["-1: n0 n1"], active: -1 });
    say(store, "another beginning");
    expect(shape(store)).toEqual({ chains: ["-1: n0 n1", "-1: n4"], active: 1 });
  });

  it("makes no branch of records, labels, names, or a marker that nothing followed", () => {
    const store = memorySession();
    const a = say(store, "a");
    store.append({ type: "model_change", provider: "p", modelId: "m" });
    store.append({ type: "custom", customType: "x" });
    store.moveLeaf(a.id);
    store.append({ type: "label", targetId: a.id, label: "l" });
    store.append({ type: "session_info", name: "n" });
    reply(store, "b");
    expect(shape(store)).toEqual({ chains: ["-1: n0 n6"], active: 0 });
  });

  it("F6 knows an edit by the branch it is on, and the last one holds", () => {
    const store = memorySession();
    const a = say(store, "a");
    const b = reply(store, "b");
    store.append({ type: "context_edit", targetId: a.id, replacement: null });
    reply(store, "c");
    store.moveLeaf(b.id);
    store.append({ type: "context_edit", targetId: a.id, replacement: "other" });
    reply(store, "d");
    expect(outlineOf(store).edits.get(0)).toEqual([
      { chain: 1, hides: true },
      { chain: 2, hides: false },
    ]);
  });

  it("adds up tokens and cost by turn, over all branches and with summaries", () => {
    const store = memorySession();
    const a = say(store, "a");
    reply(store, "b");
    reply(store, "c");
    store.moveLeaf(a.id);
    reply(store, "d");
    say(store, "e");
    reply(store, "f");
    const { ledger } = outlineOf(store);
    expect(ledger.turns.map(({ first, cached, fresh, output }) => [first, cached, fresh, output])).toEqual([
      [0, 900, 300, 150],
      [5, 300, 100, 50],
    ]);
    expect(ledger.totals).toMatchObject({ userMessages: 2, assistantMessages: 4 });
    expect(ledger.totals.cost).toBeCloseTo(0.012);
    expect([...ledger.models]).toEqual([["mock/m1", 4]]);
  });
});
