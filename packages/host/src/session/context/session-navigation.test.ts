import { failure, reply, type ScriptFunction, toolCall } from "@tau/llm/testing";
import { describe, expect, it } from "vitest";
import { createCompactor } from "../../compaction/create-compactor.ts";
import type { SessionStore } from "../../store/session-store.ts";
import { cleanUpAfterEach, fileEntries, gate, reopen, said, startSession, tool } from "../__fixtures__/harness.ts";

cleanUpAfterEach();

const USAGE = { input: 300, output: 20, cost: { total: 0.5 } };
const asksForSummary = (sent: unknown) => JSON.stringify(sent).includes("The session left the branch");

/** Answers everything with `answer n`, and a summary with `notes`. */
const worker =
  (notes: ReturnType<typeof reply>): ScriptFunction =>
  ({ context }, index) =>
    asksForSummary(context.messages) ? { ...notes, usage: USAGE } : reply(`answer ${index}`);

/** The entry of the user message with this text. */
function asked(store: SessionStore, text: string): string {
  const entry = store.entries().find((each) => each.type === "message" && JSON.stringify(each.message).includes(text));
  return entry?.id ?? "";
}

async function threeQuestions(notes: ReturnType<typeof reply>) {
  const harness = await startSession(worker(notes));
  for (const text of ["first", "second", "third"]) await harness.session.prompt(text);
  return harness;
}

describe("a move in the tree that takes a summary along", () => {
  it("F7 the branch that is left is summed up at the head of the new one, with a usage entry of its own", async () => {
    const harness = await threeQuestions(reply("It was tried in vain."));
    const { session, store, script } = harness;
    const left = store.leafId;
    const moved = await session.dispatch({
      type: "navigate",
      entryId: asked(store, "second"),
      summarize: true,
      customInstructions: "mind the birds",
    });
    expect(moved.editorText).toBe("second");
    const request = JSON.stringify(script.calls.at(-1)?.context.messages);
    expect(request).toContain("mind the birds");
    expect(request).toContain("third");
    expect(request).not.toContain("first");
    const [summary, usage] = store.entries().slice(-2);
    expect(summary).toMatchObject({ type: "branch_summary", fromId: left, summary: "It was tried in vain." });
    expect(summary).not.toHaveProperty("usage");
    expect(usage).toMatchObject({ type: "usage", kind: "branch_summary", model: "demo", usage: { input: 300 } });
    expect((await session.dispatch({ type: "get_session_stats" })).cost).toBe(0.5);
    const resumed = await reopen(harness, [reply("on")]);
    await resumed.session.prompt("otherwise");
    expect(said(resumed.session.messages)).toEqual([
      ...["user: first", "assistant: answer 0", "branchSummary: ", "user: otherwise", "assistant: on"],
    ]);
    expect(JSON.stringify(resumed.script.calls[0]?.context.messages)).toContain("tried in vain");
  });

  it("F7 what the summary names is what was left, files included; where nothing is left there is none", async () => {
    const steps: ScriptFunction = ({ context }, index) => {
      if (asksForSummary(context.messages)) return reply("notes");
      return index === 1 ? reply(toolCall("read", { path: "left.ts" })) : reply("said");
    };
    const { session, store } = await startSession(steps, { tools: [tool("read")] });
    await session.prompt("first");
    const here = store.leafId ?? "";
    await session.dispatch({ type: "navigate", entryId: here, summarize: true });
    expect(store.leafId).toBe(here);
    await session.prompt("second");
    await session.dispatch({ type: "navigate", entryId: here, summarize: true });
    const found = fileEntries(store).filter(({ type }) => type === "branch_summary");
    expect(found).toMatchObject([{ details: { readFiles: ["left.ts"], modifiedFiles: [] } }]);
  });

  it("F7 a branch that was compacted gives the notes of its compaction to the summary", async () => {
    const steps: ScriptFunction = ({ context }) => {
      const sent = JSON.stringify(context.messages);
      if (asksForSummary(context.messages)) return reply("left");
      return reply(sent.includes("about to leave the agent's memory") ? "NOTES OF THE PAST" : "said ".repeat(500));
    };
    const compactor = createCompactor({ enabled: true, reserveTokens: 1000, keepRecentTokens: 100 });
    const { session, store, script } = await startSession(steps, { compactor });
    for (const text of ["first", "second", "third"]) await session.prompt(text);
    await session.dispatch({ type: "compact" });
    await session.prompt("fourth");
    await session.dispatch({ type: "navigate", entryId: asked(store, "first"), summarize: true });
    expect(JSON.stringify(script.calls.at(-1)?.context.messages)).toContain("NOTES OF THE PAST");
  });

  it("F7 a summary that fails or is aborted moves nothing, and what it cost is noted", async () => {
    const { session, store } = await threeQuestions(failure("no money", "quota"));
    const before = store.projection();
    await expect(
      session.dispatch({ type: "navigate", entryId: asked(store, "second"), summarize: true }),
    ).rejects.toThrow(/no money/);
    expect(store.projection()).toEqual(before);
    expect(store.entries().at(-1)).toMatchObject({ type: "usage", kind: "branch_summary" });
    expect(await session.prompt("still here")).toMatchObject({ status: "done" });

    const hung = await threeQuestions({ ...reply("late"), fault: "hang" });
    const leaf = hung.store.leafId;
    const move = hung.session.dispatch({ type: "navigate", entryId: asked(hung.store, "second"), summarize: true });
    while (!asksForSummary(hung.script.calls.at(-1)?.context.messages)) await new Promise(setImmediate);
    expect(hung.session.state.isCompacting).toBe(true);
    await hung.session.abort();
    await expect(move).rejects.toThrow(/stays where it was: it was aborted/);
    expect(hung.store.leafId).toBe(leaf);
    expect(hung.session.state.isCompacting).toBe(false);
  });

  it("R106 nothing overlaps with the summary, and what is queued meanwhile continues at the new place", async () => {
    const { open, opened } = gate();
    const { session, store, script } = await threeQuestions({ ...reply("notes"), gate: opened });
    const move = session.dispatch({ type: "navigate", entryId: asked(store, "second"), summarize: true });
    await expect(session.prompt("no")).rejects.toMatchObject({ code: "busy" });
    await expect(session.dispatch({ type: "compact" })).rejects.toMatchObject({ code: "busy" });
    await expect(session.dispatch({ type: "navigate", entryId: asked(store, "first") })).rejects.toMatchObject({
      code: "busy",
    });
    await session.dispatch({ type: "prompt", message: "queued", streamingBehavior: "followUp" });
    open();
    await move;
    await session.dispatch({ type: "wait" });
    const sent = JSON.stringify(script.calls.at(-1)?.context.messages);
    expect(sent).toContain("queued");
    expect(sent).toContain("notes");
    expect(sent).not.toContain("third");
  });

  it("F7 a move is a command, too", async () => {
    const { session, store } = await threeQuestions(reply("notes"));
    const entryId = asked(store, "third");
    expect(await session.dispatch({ type: "navigate", entryId, summarize: true })).toMatchObject({
      editorText: "third",
    });
    expect(store.branch().some(({ type }) => type === "branch_summary")).toBe(true);
    await session.dispatch({ type: "navigate", entryId: asked(store, "second") });
    expect(store.branch().some(({ type }) => type === "branch_summary")).toBe(false);
  });
});
