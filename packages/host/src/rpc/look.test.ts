import { reply, scriptedModel, toolCall } from "@tau/llm/testing";
import { describe, expect, it } from "vitest";
import { cleanUpAfterEach, other, tool } from "../session/__fixtures__/harness.ts";
import { workbench } from "../tools/__fixtures__/workbench.ts";
import { createUserCommandRunner } from "../tools/bash/user-command.ts";
import { endServersAfterEach, startRpc } from "./__fixtures__/rpc-harness.ts";

cleanUpAfterEach();
endServersAfterEach();

describe("what a client reads", () => {
  it("has the shapes of pi", async () => {
    const usage = { input: 100, output: 10, cacheRead: 50, cacheWrite: 5 };
    const { client } = await startRpc(
      [
        { ...reply("looking", toolCall("look")), usage },
        { ...reply("the ", "end"), usage },
      ],
      {
        tools: [tool("look")],
      },
    );
    await client.promptAndWait("hello");
    await client.send("set_session_name", { name: "  my   work " });
    const state = await client.send("get_state");
    expect(state).toMatchObject({
      model: { id: "demo", provider: "scripted", contextWindow: 200_000, cost: {} },
      thinkingLevel: "off",
      isStreaming: false,
      isCompacting: false,
      steeringMode: "one-at-a-time",
      followUpMode: "one-at-a-time",
      sessionFile: expect.stringMatching(/\.jsonl$/),
      sessionId: expect.any(String),
      sessionName: "my work",
      autoCompactionEnabled: true,
      messageCount: 4,
      pendingMessageCount: 0,
    });
    expect(await client.send("get_session_stats")).toMatchObject({
      sessionFile: state.sessionFile,
      sessionId: state.sessionId,
      userMessages: 1,
      assistantMessages: 2,
      toolCalls: 1,
      toolResults: 1,
      totalMessages: 4,
      tokens: { input: 200, output: 20, cacheRead: 100, cacheWrite: 10, total: 330 },
      cost: 0,
      contextUsage: { tokens: expect.any(Number), contextWindow: 200_000, percent: expect.any(Number) },
    });
    const { messages } = await client.send("get_messages");
    expect(messages.map(({ role }) => role)).toEqual(["user", "assistant", "toolResult", "assistant"]);
    expect(await client.send("get_last_assistant_text")).toEqual({ text: "the end" });
  });

  it("gives entries after a cursor, and refuses one that it does not know", async () => {
    const { client } = await startRpc(() => reply("ok"));
    expect(await client.send("get_entries")).toEqual({ entries: [], leafId: null });
    await client.promptAndWait("one");
    const first = await client.send("get_entries");
    expect(first.entries.at(-1)?.id).toBe(first.leafId);
    await client.promptAndWait("two");
    const { entries } = await client.send("get_entries", { since: first.leafId ?? "" });
    expect(entries.map((entry) => entry.type === "message" && entry.message.role)).toEqual(["user", "assistant"]);
    await expect(client.send("get_entries", { since: "nope" })).rejects.toThrow("no entry nope");
  });

  it("gives the tree with its branches and labels", async () => {
    const { client, sessions } = await startRpc(() => reply("ok"));
    await client.promptAndWait("one");
    const { store, session } = sessions.current;
    const [user] = store.entries().filter(({ type }) => type === "message");
    const { entries } = await client.send("get_entries");
    const said = entries.find((entry) => entry.type === "message" && entry.message.role === "user");
    store.append({ type: "label", targetId: said?.id ?? "", label: "start\u2028" });
    await session.dispatch({ type: "navigate", entryId: said?.id ?? "" });
    await client.promptAndWait("another one");
    const { tree, leafId } = await client.send("get_tree");
    expect(user).toBeDefined();
    expect(leafId).toBe(store.leafId);
    const nodes = flat(tree);
    expect(nodes.map(({ entry }) => entry.id).sort()).toEqual(
      store
        .entries()
        .map(({ id }) => id)
        .sort(),
    );
    for (const { entry, children } of nodes) {
      expect(children.every((child) => child.entry.parentId === entry.id)).toBe(true);
    }
    const labelled = nodes.find(({ label }) => label);
    expect(labelled).toMatchObject({ label: "start\u2028", labelTimestamp: expect.stringMatching(/^\d{4}-/) });
    expect(labelled?.entry.id).toBe(said?.id);
  });

  it("R174 gives a tree that is deeper than JSON.stringify can go", async () => {
    const { client, sessions } = await startRpc([], { inMemory: true });
    for (let n = 0; n < 20_000; n++) sessions.current.store.append({ type: "custom", customType: "x" });
    const { tree } = await client.send("get_tree");
    let depth = 0;
    for (let node = tree[0]; node; node = node.children[0]) depth++;
    expect(depth).toBe(20_000);
  });

  it("lists templates and skills, and fills them in", async () => {
    const commands = [
      { name: "fix", description: "Fix it", source: "prompt", path: "/p/fix.md", scope: "user" } as const,
    ];
    const { client, script } = await startRpc(() => reply("ok"), {
      commands,
      expand: (text) => text.replace("/fix", "Fix the tests:"),
    });
    expect(await client.send("get_commands")).toEqual({
      commands: [
        {
          name: "fix",
          description: "Fix it",
          source: "prompt",
          sourceInfo: { path: "/p/fix.md", source: "local", scope: "user", origin: "top-level" },
        },
      ],
    });
    await client.promptAndWait("/fix a.ts");
    expect(script.calls[0]?.context.messages.at(-1)?.content).toEqual([{ type: "text", text: "Fix the tests: a.ts" }]);
  });

  it("refuses an export that is not there, and gives the path of one that is", async () => {
    const without = await startRpc([]);
    await expect(without.client.send("export_html")).rejects.toThrow("not available");
    const { client } = await startRpc([], { services: { exportHtml: async (_store, path = "/d.html") => path } });
    expect(await client.send("export_html", { outputPath: "/o.html" })).toEqual({ path: "/o.html" });
  });
});

interface Node {
  entry: { id: string; parentId: string | null };
  children: Node[];
  label?: string;
  labelTimestamp?: string;
}

function flat(nodes: Node[]): Node[] {
  return nodes.flatMap((node) => [node, ...flat(node.children)]);
}

describe("models and levels", () => {
  const thinking = scriptedModel({
    id: "thinker",
    api: "openai-completions",
    reasoning: true,
    thinkingLevelMap: { minimal: null, max: "max" },
  });
  const plain = { ...other, api: "openai-completions" };
  const script = scriptedModel({ id: "script" });

  it("are chosen by name, in turn, and listed without scripts", async () => {
    const models = [thinking, plain, script];
    const { client, types } = await startRpc([], {
      model: plain,
      models,
      findModel: (_provider, id) => models.find((model) => model.id === id),
    });
    expect((await client.send("get_available_models")).models).toEqual([thinking, plain]);
    expect(await client.send("cycle_model")).toEqual({ model: thinking, thinkingLevel: "off", isScoped: false });
    expect(await client.send("cycle_model")).toMatchObject({ model: plain });
    expect(await client.send("set_model", { provider: "scripted", modelId: "thinker" })).toEqual(thinking);
    await expect(client.send("set_model", { provider: "scripted", modelId: "x" })).rejects.toThrow("scripted/x");
    expect(types().filter((type) => type === "model_changed")).toHaveLength(3);
  });

  it("cycle_model gives null when there is nothing to go to", async () => {
    const { client } = await startRpc([], { models: [scriptedModel()] });
    expect(await client.send("cycle_model")).toBe(null);
    expect(await client.send("cycle_thinking_level")).toBe(null);
    expect(await client.send("get_available_thinking_levels")).toEqual({ levels: ["off"] });
  });

  it("shows the level that the model has, which is always one of the list", async () => {
    const { client } = await startRpc([], { model: thinking, models: [thinking, plain] });
    expect(await client.send("get_available_thinking_levels")).toEqual({
      levels: ["off", "low", "medium", "high", "max"],
    });
    const shown = async (level: "off" | "minimal" | "xhigh" | "max") => {
      await client.send("set_thinking_level", { level });
      return (await client.send("get_state")).thinkingLevel;
    };
    expect([await shown("minimal"), await shown("xhigh"), await shown("max")]).toEqual(["off", "high", "max"]);
    expect(await client.send("cycle_thinking_level")).toEqual({ level: "off" });
    await client.send("set_thinking_level", { level: "high" });
    await client.send("cycle_model");
    expect((await client.send("get_state")).thinkingLevel).toBe("off");
    await client.send("cycle_model");
    expect((await client.send("get_state")).thinkingLevel).toBe("high");
  });

  it("the modes that are set are the modes that are shown", async () => {
    const { client } = await startRpc([]);
    await client.send("set_steering_mode", { mode: "all" });
    await client.send("set_follow_up_mode", { mode: "all" });
    await client.send("set_auto_compaction", { enabled: false });
    await client.send("set_auto_retry", { enabled: false });
    await client.send("abort_retry");
    expect(await client.send("get_state")).toMatchObject({
      steeringMode: "all",
      followUpMode: "all",
      autoCompactionEnabled: false,
      autoRetryEnabled: false,
    });
  });
});

describe("commands of the user", () => {
  const start = () => {
    const bench = workbench();
    const secrets = ["secret-key-12345"];
    return startRpc(() => reply("ok"), { userCommands: createUserCommandRunner(bench), secrets });
  };

  it("stream their output, with the id of the command, and go to the model with the next prompt", async () => {
    const { client, raw, records, seen, script } = await start();
    raw('{"id":"b1","type":"bash","command":"printf \'one\\\\ntwo\\\\342\\\\200\\\\250.\'; exit 3"}\n');
    await seen("message_end");
    await client.send("bash", { command: "echo hidden", excludeFromContext: true });
    const updates = records().filter(({ type, id }) => type === "bash_execution_update" && id === "b1");
    expect(updates.map(({ delta }) => delta).join("")).toBe("one\ntwo\u2028.");
    expect(records().find(({ id, type }) => id === "b1" && type === "response")).toEqual({
      id: "b1",
      type: "response",
      command: "bash",
      success: true,
      data: { output: "one\ntwo\u2028.", exitCode: 3, cancelled: false, truncated: false },
    });
    await client.promptAndWait("what happened?");
    const sent = JSON.stringify(script.calls[0]?.context.messages);
    expect(sent).toContain("exit code 3");
    expect(sent).not.toContain("hidden");
    const roles = (await client.send("get_messages")).messages.map(({ role }) => role);
    expect(roles.filter((role) => role === "bashExecution")).toHaveLength(2);
  });

  it("are ended by abort_bash", async () => {
    const { client, seen } = await start();
    const running = client.send("bash", { command: "echo begun; sleep 30" });
    await seen("bash_execution_update");
    await client.send("abort_bash");
    expect(await running).toEqual({ output: "begun", cancelled: true, truncated: false });
  });

  it("are ended with the session, and answered", async () => {
    const { client, seen } = await start();
    const running = client.send("bash", { command: "echo begun; sleep 30" });
    await seen("bash_execution_update");
    await client.send("new_session");
    expect(await running).toMatchObject({ cancelled: true });
  });

  it("R143 do not show keys; a long output is cut and kept in a file", async () => {
    const { client } = await start();
    expect(await client.send("bash", { command: "echo secret-key-12345" })).toMatchObject({ output: "[secret]" });
    const long = await client.send("bash", { command: "seq 1 40000" });
    expect(long).toMatchObject({ exitCode: 0, truncated: true, fullOutputPath: expect.stringMatching(/\.log$/) });
    expect(long.output.length).toBeLessThan(60_000);
  });

  it("are refused where there is no runner, and when the shell is not there", async () => {
    const without = await startRpc([]);
    await expect(without.client.send("bash", { command: "x" })).rejects.toThrow("runs no commands");
    const userCommands = createUserCommandRunner(workbench({ shellPath: "/nowhere/sh" }));
    const { client } = await startRpc([], { userCommands });
    await expect(client.send("bash", { command: "x" })).rejects.toThrow("/nowhere/sh");
  });
});
