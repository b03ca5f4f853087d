import { failure, reply, toolCall } from "@tau/llm/testing";
import { describe, expect, it } from "vitest";
import { failingFs } from "../../store/__fixtures__/failing-fs.ts";
import { createSessionStore } from "../../store/open-session.ts";
import {
  cleanUpAfterEach,
  fileEntries,
  gate,
  other,
  said,
  startSession,
  tempDir,
  tool,
} from "../__fixtures__/harness.ts";

cleanUpAfterEach();

/** A store that knows whether anything was written since the last fsync. */
function watchedStore() {
  const fs = failingFs();
  const { write, fsync } = fs;
  const state = { unsynced: false };
  fs.write = (fd, bytes, from) => {
    state.unsynced = true;
    return write(fd, bytes, from);
  };
  fs.fsync = (fd) => {
    state.unsynced = false;
    fsync(fd);
  };
  return { state, store: createSessionStore({ sessionsDir: tempDir(), cwd: "/work", fs }) };
}

describe("what tests of a session must see", () => {
  it("R333 L5 all that was written is on the disk before agent_settled is heard, notes of listeners included", async () => {
    const { state, store } = watchedStore();
    const { session } = await startSession([reply("one"), failure("no credit", "quota"), reply("three")], { store });
    const seen: boolean[] = [];
    session.subscribe((event) => {
      if (event.type === "agent_settled") seen.push(state.unsynced);
      if (event.type === "phase" && event.to === "waiting_for_input") {
        void session.dispatch({ type: "add_message", customType: "note", content: "noted", display: true });
      }
    });
    for (const text of ["a", "b", "c"]) await session.prompt(text);
    expect(seen).toEqual([false, false, false]);
    expect(fileEntries(store).filter(({ type }) => type === "custom_message")).toHaveLength(3);
  });

  it("R333 R9 a key that comes after the abort makes no request", async () => {
    const key = gate();
    const asked = gate();
    const { session, script } = await startSession([reply("never")], {
      getApiKey: async () => {
        asked.open();
        await key.opened;
        return "key";
      },
    });
    const run = session.prompt("go");
    await asked.opened;
    await session.abort();
    expect(await run).toMatchObject({ status: "aborted" });
    key.open();
    await new Promise((resolve) => setImmediate(resolve));
    expect(script.calls).toHaveLength(0);
    expect((await session.dispatch({ type: "get_session_stats" })).spent.turns).toBe(0);
  });

  it("R333 F8 a notice about a hidden attempt is hidden with it", async () => {
    const { session, script } = await startSession([reply(), reply(), reply("there")], {
      settings: { fallbackModels: [other] },
    });
    expect(await session.prompt("go")).toMatchObject({ status: "done", text: "there" });
    expect(said(session.messages)).toEqual(["user: go", "assistant: there"]);
    expect(script.calls[2]?.context.messages).toHaveLength(1);
  });

  it("R010 F8 empty answers are hidden with the last of them, so that the prompt can be continued", async () => {
    const { session, script } = await startSession([reply(), reply(), reply("there")]);
    expect(await session.prompt("go")).toMatchObject({ status: "error", failure: { code: "empty_answer" } });
    await session.dispatch({ type: "continue" });
    expect(await session.dispatch({ type: "wait" })).toMatchObject({ outcome: { status: "done", text: "there" } });
    expect(script.calls[2]?.context.messages).toHaveLength(1);
  });

  it("R333 a retry can be given up while it is waited for, not before and not behind", async () => {
    const seen: boolean[] = [];
    const giveUp = async () => {
      const { aborted } = await session.dispatch({ type: "abort_retry" });
      seen.push(aborted);
    };
    const { session } = await startSession([failure("busy", "retryable"), reply(toolCall("look")), reply("done")], {
      tools: [tool("look", giveUp)],
    });
    await giveUp();
    expect(await session.prompt("go")).toMatchObject({ status: "done", text: "done" });
    await giveUp();
    expect(seen).toEqual([false, false, false]);
  });

  it("R333 F8 results of a hidden attempt are hidden with it", async () => {
    const broken = { ...failure("no credit", "quota"), content: [toolCall("calc")] };
    const { session } = await startSession([broken, reply("there")], {
      tools: [tool("calc")],
      settings: { fallbackModels: [other] },
    });
    await session.prompt("go");
    expect(said(session.messages)).toEqual(["user: go", "assistant: there"]);
  });
});
