import { reply, toolCall } from "@tau/llm/testing";
import { describe, expect, it } from "vitest";
import { openSessionStore } from "../../store/open-session.ts";
import { cleanUpAfterEach, gate, said, startSession, tool } from "../__fixtures__/harness.ts";
import type { SessionSnapshot } from "./snapshot.ts";

cleanUpAfterEach();

const throughJson = (snapshot: SessionSnapshot): SessionSnapshot => JSON.parse(JSON.stringify(snapshot));

describe("snapshots of a session", () => {
  it("R7 a snapshot is plain JSON, and restoring it gives an equal one", async () => {
    const { session, store } = await startSession([reply(toolCall("calc")), reply("end")], {
      tools: [tool("calc")],
      saveState: () => ({ fileReadCache: { "/a": 1 }, extensionStates: { x: { y: 2 } } }),
    });
    await session.prompt("go");
    await session.dispatch({ type: "set_thinking_level", level: "high" });
    const snapshot = session.snapshot();
    expect(throughJson(snapshot)).toEqual(snapshot);
    expect(snapshot).toMatchObject({
      sessionPath: store.path,
      currentNodeId: store.leafId,
      fileReadCache: { "/a": 1 },
      extensionStates: { x: { y: 2 } },
      openQuestions: [],
    });
    await session.dispose();
    const again = await startSession([], {
      store: openSessionStore(store.path ?? ""),
      tools: [tool("calc")],
      snapshot: throughJson(snapshot),
    });
    expect(again.session.snapshot()).toEqual(snapshot);
  });

  it("R7 a snapshot in the middle of a batch with an open question restores, and the open calls are closed (C9)", async () => {
    const { open, opened } = gate();
    const permission = {
      decide: async ({ toolName }: { toolName: string }, { ask }: { ask?: (reason: string) => Promise<unknown> }) => {
        if (toolName === "asked") await ask?.("may it?");
        return { action: "allow" as const };
      },
    };
    const hang = tool("hang", (signal) => {
      const stopped = new Promise((resolve) => signal.addEventListener("abort", () => resolve(undefined)));
      open();
      return stopped;
    });
    const tools = [hang, tool("asked")];
    const { session, store } = await startSession([reply(toolCall("hang"), toolCall("asked"))], {
      tools,
      permission,
      attended: true,
    });
    void session.prompt("go");
    await opened;
    session.steer("and then");
    const snapshot = throughJson(session.snapshot());
    expect(snapshot.openQuestions).toMatchObject([{ toolName: "asked", reason: "may it?" }]);
    expect(snapshot.agent).toMatchObject({ isStreaming: true, pendingToolCalls: [expect.any(String)] });
    await session.dispose();

    const again = await startSession([reply("on")], { store: openSessionStore(store.path ?? ""), tools, snapshot });
    expect(again.session.snapshot()).toEqual(snapshot);
    expect(again.session.state.queued.steering).toEqual(["and then"]);
    await again.session.prompt("continue");
    const results = said(again.session.messages).filter((line) => line.startsWith("toolResult"));
    expect(results).toEqual([expect.stringContaining("in part"), expect.stringContaining("never started")]);
    const users = said(again.session.messages).filter((line) => line.startsWith("user"));
    expect(users).toEqual(["user: go", "user: and then", "user: continue"]);
  });
});
