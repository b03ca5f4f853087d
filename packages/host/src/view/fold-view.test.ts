import type { AssistantMessage } from "@tau/llm";
import { failure, reply, text, thinking, toolCall } from "@tau/llm/testing";
import { describe, expect, it } from "vitest";
import { toWire } from "../rpc/wire-event.ts";
import { cleanUpAfterEach, gate, startSession, tool } from "../session/__fixtures__/harness.ts";
import type { AgentSession } from "../session/agent-session.ts";
import type { SessionEvent } from "../session/events/session-event.ts";
import type { PermissionGate } from "../session/permission/permission.ts";
import { foldView } from "./fold-view.ts";
import { EMPTY_VIEW, itemsSince, type ViewEvent, type ViewState, viewOf } from "./view-state.ts";

cleanUpAfterEach();

/** Folds what a session emits, in process and as it goes over a wire. */
function watch(session: AgentSession): { local: () => ViewState; remote: () => ViewState; states: ViewState[] } {
  let local = EMPTY_VIEW;
  let remote = EMPTY_VIEW;
  const states: ViewState[] = [];
  session.subscribe((event: SessionEvent) => {
    local = foldView(local, event);
    // What a client reads: JSON text of the wire form.
    remote = foldView(remote, JSON.parse(JSON.stringify(toWire(event))) as ViewEvent);
    expect(plain(remote)).toEqual(plain(local));
    states.push(local);
  });
  return { local: () => local, remote: () => remote, states };
}

const plain = ({ arriving, history, endedCalls, runningCalls, ...rest }: ViewState) =>
  JSON.parse(
    JSON.stringify({
      ...rest,
      arriving: arriving && "content" in arriving ? arriving.content : arriving,
      history: itemsSince(history),
      endedCalls: itemsSince(endedCalls),
      runningCalls: [...runningCalls.values()],
    }),
  );

const messagesOf = (view: ViewState) =>
  itemsSince(view.history).flatMap((item) => (item.kind === "message" ? [item.message] : []));
const noticesOf = (view: ViewState) =>
  itemsSince(view.history).flatMap((item) => (item.kind === "notice" ? [item.text] : []));

describe("foldView", () => {
  it("has every message of the session once and in order, in process and over a wire", async () => {
    const steps = [
      reply(thinking("Let me see."), text("I call it."), toolCall("look", { n: 1 }), toolCall("look", { n: 2 })),
      reply("done"),
    ];
    const { session } = await startSession(steps, { tools: [tool("look")] });
    const { local, states } = watch(session);
    await session.prompt("go");
    const view = local();
    const heard = messagesOf(view).filter(({ role }) => role !== "system");
    expect(heard).toEqual(session.messages);
    expect(view).toMatchObject({ running: false, phase: "idle", arriving: undefined, outcome: { status: "done" } });
    expect(view.usage.requests).toBe(2);
    expect(states.some(({ arriving }) => arriving?.role === "assistant" && textIn(arriving).includes("I call"))).toBe(
      true,
    );
    expect(states.some(({ runningCalls }) => runningCalls.size > 0)).toBe(true);
    expect([view.runningCalls.size, view.endedCalls]).toEqual([0, undefined]);
  });

  it("opened on a session that is there already it continues behind its messages", async () => {
    const { session } = await startSession([reply("one"), reply("two")]);
    await session.prompt("first");
    const opened = viewOf(session.messages);
    let view = opened;
    session.subscribe((event) => {
      view = foldView(view, event);
    });
    await session.prompt("second");
    expect(messagesOf(view)).toEqual(session.messages);
    expect(itemsSince(view.history, opened.history)).toHaveLength(2);
  });

  it("shows what waits: queued messages, a retry with its delay, a question with its answer", async () => {
    const running = gate();
    const release = gate();
    const slow = tool("slow", async () => {
      running.open();
      await release.opened;
    });
    const steps = [failure("overloaded", "retryable"), reply(toolCall("slow", {})), reply("more"), reply("end")];
    const permission: PermissionGate = {
      async decide(_request, { ask }) {
        const answer = await ask?.("It is slow.");
        return answer?.decision === "allow" ? { action: "allow" } : { action: "deny", reason: "no" };
      },
    };
    const { session } = await startSession(steps, { tools: [slow], permission, attended: true });
    const { local, states } = watch(session);
    const over = session.prompt("go");
    const asked = () => local().questions[0];
    const question = gate();
    const answered = gate();
    session.subscribe(({ type }) => {
      if (type === "permission_request") question.open();
      if (type === "permission_resolved") answered.open();
    });
    await Promise.race([question.opened, over]);
    expect(asked()).toMatchObject({ toolName: "slow", reason: "It is slow." });
    await session.dispatch({ type: "respond_permission", id: asked()?.id ?? "", decision: "allow" });
    await Promise.all([running.opened, answered.opened]);
    expect(local().questions).toEqual([]);
    expect([...local().runningCalls.values()]).toMatchObject([{ toolName: "slow" }]);
    await session.dispatch({ type: "steer", message: "wait" });
    expect(local().queue.steering).toEqual(["wait"]);
    release.open();
    await over;
    expect(states.find(({ retry }) => retry)?.retry).toMatchObject({ attempt: 1, errorMessage: "overloaded" });
    expect(local()).toMatchObject({ retry: undefined, queue: { steering: [], followUp: [] }, questions: [] });
  });

  it("shows warnings and a fallback where they came", async () => {
    const { other } = await import("../session/__fixtures__/harness.ts");
    const steps = [failure("no such model", "invalid_request"), reply("hello")];
    const { session } = await startSession(steps, { settings: { fallbackModels: [other] } });
    const { local } = watch(session);
    await session.prompt("go");
    expect(noticesOf(local()).join()).toMatch(/failed; .*other.* continues: no such model/);
    expect(local().model).toMatchObject({ modelId: "other" });
  });

  it("keeps what it cannot know and never changes a state that was given out", async () => {
    const { session } = await startSession([reply(toolCall("look", { n: 1 })), reply("done")], {
      tools: [tool("look")],
    });
    const frozen: { view: ViewState; json: unknown }[] = [];
    let view = EMPTY_VIEW;
    session.subscribe((event) => {
      view = foldView(view, event);
      frozen.push({ view, json: plain(view) });
    });
    await session.prompt("go");
    for (const { view: before, json } of frozen) expect(plain(before)).toEqual(json);
    const unknown = { type: "event_of_tomorrow", more: 1 } as unknown as ViewEvent;
    expect(foldView(view, unknown)).toBe(view);
  });

  it("a delta whose beginning was missed opens the message", () => {
    const delta = { type: "text_delta", contentIndex: 0, delta: "late" } as const;
    const view = foldView(EMPTY_VIEW, { type: "message_update", assistantMessageEvent: delta });
    expect(textIn(view.arriving as AssistantMessage)).toBe("late");
  });

  it("an event costs the same however long the history is", () => {
    const message = { role: "user", content: "x", timestamp: 1 } as const;
    let view = EMPTY_VIEW;
    for (let index = 0; index < 200_000; index++) view = foldView(view, { type: "message_end", message });
    expect(view.history?.length).toBe(200_000);
    expect(itemsSince(view.history, view.history?.before)).toHaveLength(1);
  });
});

function textIn(message: AssistantMessage): string {
  return message.content.map((block) => (block.type === "text" ? block.text : "")).join("");
}
