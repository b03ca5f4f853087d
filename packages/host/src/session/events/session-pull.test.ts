import { reply, toolCall } from "@tau/llm/testing";
import { describe, expect, it } from "vitest";
import { cleanUpAfterEach, type HarnessOptions, said, startSession, tool } from "../__fixtures__/harness.ts";
import type { AgentSession } from "../agent-session.ts";
import type { PermissionGate } from "../permission/permission.ts";
import { NO_YIELD } from "../run/budget.ts";
import type { PullInput } from "./pull.ts";
import type { SessionEvent } from "./session-event.ts";

cleanUpAfterEach();

const askAlways: PermissionGate = {
  async decide(_request, { ask }) {
    const answer = await ask?.("every call is asked");
    if (answer?.decision === "allow") return { action: "allow" };
    return {
      action: "deny",
      reason: answer?.reason ?? "Nobody is there to ask.",
      ...(!answer && { unattended: true }),
    };
  },
};

/** Pulls to the end, and gives how the run ended. */
async function drain(run: ReturnType<AgentSession["run"]>) {
  let step = await run.next();
  while (!step.done) step = await run.next();
  return step.value;
}

describe("the pull form", () => {
  it("L6 shows the events of the push form in the same order, and returns how the run ended", async () => {
    const { session, events } = await startSession([reply(toolCall("calc")), reply("end")], { tools: [tool("calc")] });
    const pulled: SessionEvent[] = [];
    const run = session.run("go");
    let step = await run.next();
    for (; !step.done; step = await run.next()) pulled.push(step.value);
    expect(step.value).toMatchObject({ status: "done" });
    expect(pulled.filter(({ type }) => type !== "message_update")).toEqual(events);
    expect(pulled.at(-1)?.type).toBe("agent_settled");
  });

  it("L6 steering, follow-ups and approvals go in with next(input)", async () => {
    const { session } = await startSession([reply(toolCall("calc")), reply("one"), reply("two")], {
      tools: [tool("calc")],
      permission: askAlways,
      attended: true,
    });
    const run = session.run("go");
    let input: PullInput | undefined;
    for (let step = await run.next(); !step.done; step = await run.next(input)) {
      const { value } = step;
      input = undefined;
      if (value.type === "permission_request") input = { type: "permission", id: value.id, decision: "allow" };
      if (value.type === "tool_execution_end") input = { type: "steer", message: "now" };
      if (value.type === "permission_resolved") input = { type: "follow_up", message: "later" };
    }
    expect(said(session.messages).slice(1)).toEqual([
      "assistant: <toolCall>",
      "toolResult: calc ran",
      "user: now",
      "assistant: one",
      "user: later",
      "assistant: two",
    ]);
  });

  it("L6 the consumer's pull is the backpressure", async () => {
    let ran = false;
    const { session } = await startSession([reply(toolCall("calc")), reply("end")], {
      tools: [
        tool("calc", () => {
          ran = true;
        }),
      ],
    });
    const run = session.run("go");
    for (let step = await run.next(); !step.done && step.value.type !== "turn_start"; ) step = await run.next();
    await new Promise<void>((resolve) => setTimeout(resolve, 20));
    expect(ran).toBe(false);
    for (let step = await run.next(); !step.done; ) step = await run.next();
    expect(ran).toBe(true);
  });

  it("L6 leaving early aborts the run and waits for it", async () => {
    const { session, script } = await startSession(() => reply(toolCall("calc")), { tools: [tool("calc")] });
    for await (const event of session.run("go")) if (event.type === "tool_execution_end") break;
    expect(session.state.isStreaming).toBe(false);
    expect((await session.dispatch({ type: "wait" })).outcome).toMatchObject({ status: "aborted" });
    expect(script.calls).toHaveLength(1);
  });

  /** A run whose tool waits for its abort, with the pull that waits for the tool. */
  const hanging = async (options: HarnessOptions = {}) => {
    const wait = tool("calc", (signal) => new Promise<void>((done) => signal.addEventListener("abort", () => done())));
    const harness = await startSession([reply(toolCall("calc")), reply("end")], { tools: [wait], ...options });
    const run = harness.session.run("go");
    for (let step = await run.next(); !step.done && step.value.type !== "tool_execution_start"; )
      step = await run.next();
    return { ...harness, run };
  };

  it.each(["return", "throw"] as const)("L6 %s does not wait for an event that was asked for before", async (how) => {
    const { session, run } = await hanging();
    const events = drain(run);
    await new Promise<void>((resolve) => setImmediate(resolve));
    if (how === "return") expect(await run.return({ status: "done", ...NO_YIELD })).toMatchObject({ done: true });
    else await expect(run.throw(new Error("enough"))).rejects.toThrow("enough");
    expect(await events).toMatchObject({ status: "aborted" });
    expect(session.state.isStreaming).toBe(false);
  });

  it("L6 input does not wait for an event that was asked for before", async () => {
    const { session, run } = await hanging();
    const outcome = drain(run);
    await new Promise<void>((resolve) => setImmediate(resolve));
    const steered = run.next({ type: "steer", message: "now" });
    const stopped = run.next({ type: "abort" });
    expect(await outcome).toMatchObject({ status: "aborted" });
    await Promise.all([steered, stopped]);
    expect(await session.dispatch({ type: "clear_queue" })).toMatchObject({ steering: ["now"] });
  });

  it("L6 leaving does not wait out the grace of the abort", async () => {
    const { session } = await startSession(() => reply(toolCall("calc")), {
      tools: [tool("calc")],
      settings: { limits: { abortGraceMs: 600_000 } },
    });
    for await (const event of session.run("go")) if (event.type === "tool_execution_end") break;
    expect((await session.dispatch({ type: "wait" })).outcome).toMatchObject({ status: "aborted" });
  });

  it("L6 input that is refused ends the run", async () => {
    const { session, run } = await hanging();
    await expect(run.next({ type: "steer", message: "" })).rejects.toMatchObject({ code: "empty_prompt" });
    expect((await session.dispatch({ type: "wait" })).outcome).toMatchObject({ status: "aborted" });
    expect(await run.next({ type: "steer", message: "late" })).toEqual({ done: true, value: undefined });
    expect(session.state.isStreaming).toBe(false);
  });

  it("L6 an abort and an interrupt go in, and a refused prompt throws", async () => {
    const { session } = await startSession(() => reply(toolCall("calc")), { tools: [tool("calc")] });
    const run = session.run("go");
    let step = await run.next();
    while (!step.done) step = await run.next(step.value.type === "turn_end" ? { type: "abort" } : undefined);
    expect(step.value).toMatchObject({ status: "aborted" });
    await expect(session.run("").next()).rejects.toMatchObject({ code: "empty_prompt" });
  });
});

describe("the gate's seam", () => {
  it("P4 a denial is an error result and an event, and the run continues", async () => {
    const { session, events } = await startSession([reply(toolCall("rm")), reply("fine")], {
      tools: [tool("rm")],
      permission: { decide: ({ toolName }) => ({ action: "deny", reason: `${toolName} is not allowed` }) },
    });
    expect(await session.prompt("go")).toMatchObject({ status: "done" });
    expect(events).toContainEqual(expect.objectContaining({ type: "tool_denied", reason: "rm is not allowed" }));
    expect(said(session.messages)[2]).toBe("toolResult: rm is not allowed");
  });

  it("P3 R175 with nobody to ask the call is denied and the outcome names it", async () => {
    const { session } = await startSession([reply(toolCall("rm")), reply("fine")], {
      tools: [tool("rm")],
      permission: askAlways,
    });
    expect(await session.prompt("go")).toMatchObject({
      status: "denied",
      denied: [{ toolName: "rm", reason: "Nobody is there to ask." }],
    });
  });

  it("P3 C12 questions are answered by id, each holds up its own call only, late answers are ignored", async () => {
    const { session, events } = await startSession([reply(toolCall("a"), toolCall("b")), reply("end")], {
      tools: [tool("a"), tool("b")],
      permission: askAlways,
      attended: true,
    });
    session.subscribe((event) => {
      if (event.type !== "permission_request") return;
      const { id, toolName } = event;
      const command = { type: "respond_permission", id, decision: "deny", reason: "no" } as const;
      if (toolName === "b") void session.dispatch({ type: "respond_permission", id, decision: "allow", scope: "once" });
      else setTimeout(() => void session.dispatch(command), 5);
    });
    await session.prompt("go");
    expect(said(session.messages).slice(2, 4)).toEqual(["toolResult: no", "toolResult: b ran"]);
    const order = events.flatMap((event) => (event.type === "tool_execution_end" ? [event.toolName] : []));
    expect(order).toEqual(["b", "a"]);
    await expect(
      session.dispatch({ type: "respond_permission", permissionId: "permission_1", decision: "allow" }),
    ).rejects.toMatchObject({ code: "no_question" });
  });

  it("P6 R180 an abort while a question is open denies it and runs nothing", async () => {
    let ran = 0;
    const { session, events } = await startSession([reply(toolCall("rm"))], {
      tools: [tool("rm", () => void ran++)],
      permission: askAlways,
      attended: true,
    });
    session.subscribe((event) => void (event.type === "permission_request" && session.abort()));
    expect(await session.prompt("go")).toMatchObject({ status: "aborted" });
    expect(ran).toBe(0);
    expect(events).toContainEqual(expect.objectContaining({ type: "permission_resolved", decision: "deny" }));
    expect(session.state.openQuestions).toEqual([]);
    expect(events.some(({ type }) => type === "listener_error")).toBe(false);
  });

  it("C11 a gate that throws denies", async () => {
    const decide = () => {
      throw new Error("broken gate");
    };
    const { session } = await startSession([reply(toolCall("rm")), reply("fine")], {
      tools: [tool("rm")],
      permission: { decide },
    });
    await session.prompt("go");
    expect(said(session.messages)[2]).toContain("broken gate");
  });
});
