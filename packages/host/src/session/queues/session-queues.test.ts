import { reply, toolCall } from "@tau/llm/testing";
import { describe, expect, it } from "vitest";
import type { Compactor } from "../../compaction/compactor.ts";
import { openSessionStore } from "../../store/open-session.ts";
import { cleanUpAfterEach, gate, reopen, said, startSession, tool } from "../__fixtures__/harness.ts";

cleanUpAfterEach();

/** A tool that runs until the abort, and says when it began. */
function hangingTool() {
  const { open, opened } = gate();
  const run = (signal: AbortSignal) =>
    new Promise((resolve) => {
      signal.addEventListener("abort", () => resolve("stopped"));
      open();
    });
  return { hanging: tool("hang", run), began: opened };
}

describe("queues", () => {
  it("Q1 Q3 steering enters before the next request, a follow-up when the agent would stop", async () => {
    const { session, script, events } = await startSession([reply(toolCall("talk")), reply("one"), reply("two")], {
      tools: [
        tool("talk", () => {
          session.followUp("later");
          session.steer("now");
        }),
      ],
    });
    await session.prompt("go");
    script.assertDone();
    expect(said(session.messages).filter((line) => !line.startsWith("tool"))).toEqual([
      "user: go",
      "assistant: <toolCall>",
      "user: now",
      "assistant: one",
      "user: later",
      "assistant: two",
    ]);
    const updates = events.filter(({ type }) => type === "queue_update");
    expect(updates).toEqual([
      { type: "queue_update", steering: [], followUp: ["later"] },
      { type: "queue_update", steering: ["now"], followUp: ["later"] },
      { type: "queue_update", steering: [], followUp: ["later"] },
      { type: "queue_update", steering: [], followUp: [] },
    ]);
  });

  it("Q5 after an abort queued messages stay queued and can be handed back", async () => {
    const { hanging, began } = hangingTool();
    const { session, script, events } = await startSession([reply(toolCall("hang")), reply("next")], {
      tools: [hanging],
    });
    const run = session.prompt("go");
    await began;
    session.steer("A");
    session.followUp("B");
    expect(await session.abort()).toEqual({ steering: ["A"], followUp: ["B"] });
    expect(await run).toMatchObject({ status: "aborted" });
    expect(script.calls).toHaveLength(1);
    expect(events.findLast(({ type }) => type === "queue_update")).toMatchObject({ steering: ["A"], followUp: ["B"] });
    expect(await session.dispatch({ type: "clear_queue" })).toEqual({ steering: ["A"], followUp: ["B"] });
    expect(session.state.pendingMessageCount).toBe(0);
    await session.prompt("C");
    expect(said(session.messages).filter((line) => line.startsWith("user"))).toEqual(["user: go", "user: C"]);
  });

  it("R003 what nobody took back goes in front of the next prompt, once and in order", async () => {
    const { hanging, began } = hangingTool();
    const { session, script } = await startSession([reply(toolCall("hang")), reply("next")], { tools: [hanging] });
    void session.prompt("go");
    await began;
    session.steer("A");
    session.followUp("B");
    await session.abort();
    expect(await session.prompt("C")).toMatchObject({ status: "done" });
    script.assertDone();
    const users = said(session.messages).filter((line) => line.startsWith("user"));
    expect(users).toEqual(["user: go", "user: A", "user: B", "user: C"]);
    expect(session.state.queued).toEqual({ steering: [], followUp: [] });
  });

  it("R003 a steer that was taken when the abort came is not lost", async () => {
    const { session } = await startSession([reply(toolCall("calc")), reply("next")], {
      tools: [tool("calc", () => void session.steer("S"))],
    });
    session.subscribe((event) => {
      if (event.type === "turn_end") void session.abort();
    });
    await session.prompt("go");
    const inTranscript = said(session.messages).filter((line) => line === "user: S").length;
    expect(inTranscript + session.state.queued.steering.length).toBe(1);
  });

  it("R004 a message that comes after the stop is kept and sent", async () => {
    const { open, opened } = gate();
    const { hanging, began } = hangingTool();
    const slow = tool("slow", () => opened);
    const { session, script, types } = await startSession([reply(toolCall("hang"), toolCall("slow")), reply("next")], {
      tools: [hanging, slow],
    });
    const run = session.prompt("go");
    await began;
    const stopped = session.abort();
    expect(await session.dispatch({ type: "follow_up", message: "after all" })).toEqual({ disposition: "queued" });
    open();
    expect(await run).toMatchObject({ status: "aborted" });
    await stopped;
    await session.dispatch({ type: "wait" });
    script.assertDone();
    expect(said(session.messages).slice(-2)).toEqual(["user: after all", "assistant: next"]);
    expect(types().filter((type) => type === "agent_settled")).toHaveLength(2);
  });

  it("R004 Q4 what came after the stop is sent once, also when a listener begins the next chain", async () => {
    const { hanging, began } = hangingTool();
    const { session, script } = await startSession([reply(toolCall("hang")), reply("next")], { tools: [hanging] });
    session.subscribe((event) => {
      if (event.type === "phase" && event.to === "idle" && session.messages.length < 5) session.steer("begins");
    });
    void session.prompt("go");
    await began;
    const stopped = session.abort();
    session.followUp("after the stop");
    await stopped;
    await session.dispatch({ type: "wait" });
    script.assertDone();
    const users = said(session.messages).filter((line) => line.startsWith("user"));
    expect(users).toEqual(["user: go", "user: after the stop", "user: begins"]);
    expect(session.state.queued).toEqual({ steering: [], followUp: [] });
  });

  it.each(["steer", "follow_up", "interrupt"] as const)(
    "Q4 R004 a %s between the end of the last run and agent_settled is sent in a chain of its own",
    async (how) => {
      const { session, script, types } = await startSession([reply("one"), reply("two")]);
      let once = true;
      session.subscribe((event) => {
        if (event.type !== "phase" || event.to !== "waiting_for_input" || !once) return;
        once = false;
        void session.dispatch({ type: how, message: "late" });
      });
      await session.prompt("go");
      await session.dispatch({ type: "wait" });
      script.assertDone();
      expect(said(session.messages)).toEqual(["user: go", "assistant: one", "user: late", "assistant: two"]);
      expect(types().filter((type) => type === "agent_settled")).toHaveLength(2);
    },
  );

  it("R2 Q4 B8 a message that comes when the run is over enters before the next request, behind a change of the prompt", async () => {
    const cut = { ...reply("half an answ"), stopReason: "length" as const };
    const { session, script } = await startSession([cut, reply("two")], {
      userCommands: async () => ({ output: "", exitCode: 0, cancelled: false, truncated: false }),
    });
    session.subscribe((event) => {
      if (event.type !== "warning") return;
      session.configure({ systemPrompt: "You are another test." });
      session.followUp("late");
    });
    await session.prompt("go");
    await session.dispatch({ type: "wait" });
    script.assertDone();
    expect(script.calls[1]?.context.messages.at(-1)).toMatchObject({ role: "user", content: [{ text: "late" }] });
    await session.dispatch({ type: "bash", command: "pwd", excludeFromContext: true });
    await expect(session.dispatch({ type: "continue" })).rejects.toThrow(/nothing/i);
  });

  it("Q4 a message queued while agent_end is being reported still starts a continuation, settled once", async () => {
    const { session, script, types } = await startSession([reply("one"), reply("two")]);
    let once = true;
    session.subscribe((event) => {
      if (event.type !== "agent_end" || !once) return;
      once = false;
      session.followUp("late");
    });
    await session.prompt("go");
    script.assertDone();
    expect(said(session.messages)).toEqual(["user: go", "assistant: one", "user: late", "assistant: two"]);
    expect(types().filter((type) => type === "agent_settled")).toHaveLength(1);
  });

  it("Q4 queued messages survive the process, without those that were delivered", async () => {
    const { hanging, began } = hangingTool();
    const first = await startSession([reply(toolCall("calc")), reply(toolCall("hang"))], {
      tools: [hanging, tool("calc", () => void first.session.steer("delivered"))],
    });
    void first.session.prompt("go");
    await began;
    first.session.steer("kept");
    first.session.followUp("kept too");
    const second = await reopen(first, [reply("on")]);
    expect(second.session.state.queued).toEqual({ steering: ["kept"], followUp: ["kept too"] });
    await second.session.prompt("new");
    const users = said(second.session.messages).filter((line) => line.startsWith("user"));
    expect(users).toEqual(["user: go", "user: delivered", "user: kept", "user: kept too", "user: new"]);
    const third = await reopen(second, []);
    expect(third.session.state.queued).toEqual({ steering: [], followUp: [] });
  });

  it("R295 what a killed session had queued is dropped with a warning once another program has continued it", async () => {
    const { hanging, began } = hangingTool();
    const first = await startSession([reply(toolCall("hang"))], { tools: [hanging] });
    void first.session.prompt("go");
    await began;
    first.session.steer("wait for me");
    first.session.followUp("and for me");
    await first.session.dispose();
    const other = openSessionStore(first.store.path ?? "");
    other.append({ type: "message", message: { role: "user", content: "said elsewhere", timestamp: 1 } });
    other.close();
    const second = await reopen(first, [reply("on"), reply("again")]);
    expect(second.session.state.queued).toEqual({ steering: [], followUp: [] });
    await second.session.prompt("new");
    await second.session.prompt("newer");
    const users = said(second.session.messages).filter((line) => line.startsWith("user"));
    expect(users).toEqual(["user: go", "user: said elsewhere", "user: new", "user: newer"]);
    const warnings = second.events.filter(({ type }) => type === "warning");
    expect(warnings).toEqual([
      { type: "warning", message: expect.stringMatching(/another program.*"wait for me", "and for me"/) },
    ]);
    expect((await reopen(second, [])).session.state.queued).toEqual({ steering: [], followUp: [] });
  });

  it("Q4 two messages that say the same are two, and each is taken out by its id", async () => {
    const { session, events } = await startSession([reply(toolCall("talk")), reply("one"), reply("two")], {
      tools: [
        tool("talk", () => {
          session.steer("same");
          session.steer("same");
        }),
      ],
    });
    await session.prompt("go");
    const sizes = events.flatMap((event) => (event.type === "queue_update" ? [event.steering.length] : []));
    expect(sizes).toEqual([1, 2, 1, 0]);
    expect(said(session.messages).filter((line) => line === "user: same")).toHaveLength(2);
  });

  it("Q2 the modes of both queues can be set", async () => {
    const { session, script } = await startSession([reply(toolCall("talk")), reply("both")], {
      tools: [
        tool("talk", () => {
          session.steer("1");
          session.steer("2");
        }),
      ],
    });
    await session.dispatch({ type: "set_steering_mode", mode: "all" });
    await session.dispatch({ type: "set_follow_up_mode", mode: "all" });
    await session.prompt("go");
    script.assertDone();
    expect(session.state).toMatchObject({ steeringMode: "all", followUpMode: "all" });
  });

  it("R10 an interrupt stops the batch and continues with its message in the same run", async () => {
    const { hanging, began } = hangingTool();
    const { session, types } = await startSession([reply(toolCall("hang")), reply("turned")], { tools: [hanging] });
    const run = session.prompt("go");
    await began;
    await session.dispatch({ type: "interrupt", message: "no, this" });
    expect(await run).toMatchObject({ status: "done" });
    expect(said(session.messages).slice(-2)).toEqual(["user: no, this", "assistant: turned"]);
    expect(types().filter((type) => type === "agent_settled")).toHaveLength(1);
    expect(session.state.pendingMessageCount).toBe(0);
  });

  it.each(["steer", "follow_up"] as const)(
    "R293 Q4 %s without a run is queued, goes in front of the next prompt, and is kept in the file",
    async (how) => {
      const before = await startSession([reply("first")]);
      await before.session.prompt("hello");
      expect(await before.session.dispatch({ type: how, message: "go" })).toEqual({ disposition: "queued" });
      expect(await before.session.dispatch({ type: "wait" })).toMatchObject({ outcome: { text: "first" } });
      expect(before.script.calls).toHaveLength(1);
      const { session, script } = await reopen(before, [reply("ok")]);
      expect(session.state.pendingMessageCount).toBe(1);
      await session.prompt("now");
      expect(said(session.messages).slice(2)).toEqual(["user: go", "user: now", "assistant: ok"]);
      expect(script.calls).toHaveLength(1);
    },
  );

  it("R293 what was queued without a run is not sent by a compaction, what is queued during one is", async () => {
    const { open, opened } = gate();
    let nth = 0;
    const compactor: Compactor = {
      shouldCompact: () => false,
      async compact({ store }) {
        if (++nth === 2) await opened;
        const firstKeptEntryId = store.projection().entryIds.at(-1) ?? "";
        return { summary: "notes", firstKeptEntryId, tokensBefore: 1 };
      },
    };
    const { session, script } = await startSession([reply("one"), reply("two")], { compactor });
    await session.prompt("hello");
    session.steer("waiting");
    await session.dispatch({ type: "compact" });
    await session.dispatch({ type: "wait" });
    expect(script.calls).toHaveLength(1);
    const second = session.dispatch({ type: "compact" });
    session.followUp("meanwhile");
    open();
    await second;
    await session.dispatch({ type: "wait" });
    expect(script.calls).toHaveLength(2);
    expect(said(session.messages).slice(-3)).toEqual(["user: waiting", "user: meanwhile", "assistant: two"]);
  });

  it("R2 continue starts from where the session stands, and is refused when there is nothing", async () => {
    const { session } = await startSession([{ ...reply(), stopReason: "error", errorMessage: "x" }, reply("there")]);
    await expect(session.dispatch({ type: "continue" })).rejects.toMatchObject({ code: "nothing_to_continue" });
    expect(await session.prompt("go")).toMatchObject({ status: "error" });
    expect(await session.dispatch({ type: "continue" })).toEqual({ disposition: "started" });
    expect(await session.dispatch({ type: "wait" })).toMatchObject({ outcome: { status: "done" } });
    expect(said(session.messages)).toEqual(["user: go", "assistant: there"]);
    await expect(session.dispatch({ type: "continue" })).rejects.toMatchObject({ code: "nothing_to_continue" });
  });
});
