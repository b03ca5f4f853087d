import { mkdirSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createAssistantStream, emptyAssistantMessage, type StreamFn } from "@tau/llm";
import { createScript, failure, reply, scriptedModel, toolCall, type WireReply, wireServer } from "@tau/llm/testing";
import { afterEach, describe, expect, it } from "vitest";
import { isRunning, listProcesses } from "../platform/process-tree.ts";
import { cleanUpAfterEach, newStore, said, tempDir, tool } from "../session/__fixtures__/harness.ts";
import type { AgentSession } from "../session/agent-session.ts";
import { DEFAULT_SESSION_SETTINGS } from "../session/options.ts";
import { ConfigError } from "../settings/config-error.ts";
import { createAgentSession } from "./create-agent-session.ts";
import type { CreateAgentSessionOptions } from "./sdk-options.ts";

cleanUpAfterEach();
const open: AgentSession[] = [];
afterEach(async () => {
  for (const session of open.splice(0)) await session.dispose();
});

async function start(options: CreateAgentSessionOptions): Promise<AgentSession> {
  const session = await createAgentSession(options);
  open.push(session);
  return session;
}

const resultText = (session: AgentSession) =>
  JSON.stringify(session.messages.find(({ role }) => role === "toolResult"));

/** A home of tau with one provider, which is a server on loopback. */
async function homeWithServer(steps: readonly WireReply[]) {
  const server = await wireServer({ steps });
  const tauDir = tempDir();
  const models = [{ id: "local-one", contextWindow: 8000 }];
  const provider = { baseUrl: `${server.url}/v1`, api: "openai-completions", apiKey: "$LOCAL_KEY", models };
  writeFileSync(join(tauDir, "models.json"), JSON.stringify({ providers: { loopback: provider } }));
  return { server, env: { TAU_DIR: tauDir, LOCAL_KEY: "key-of-the-loopback" } };
}

describe("createAgentSession", () => {
  it("needs a folder and a model: the built-in tools, tau's prompt and a store in memory are the rest", async () => {
    const cwd = tempDir();
    writeFileSync(join(cwd, "a.txt"), "the text of a");
    const script = createScript([reply(toolCall("read", { path: "a.txt" })), reply("read")]);
    const session = await start({ cwd, model: scriptedModel(), streamFn: script.streamFn });
    expect(await session.prompt("read a.txt")).toMatchObject({ status: "done" });
    expect(resultText(session)).toContain("the text of a");
    const context = script.calls[0]?.context;
    expect(JSON.stringify(context)).toContain(`Working directory: ${cwd}`);
    expect(context?.tools?.map(({ name }) => name)).toEqual(["read", "bash", "edit", "write"]);
    expect((await session.dispatch({ type: "get_session_stats" })).sessionFile).toBeUndefined();
  });

  it("takes built-in tools by name beside tools of one's own, in the order given, and runs postProcess (E5)", async () => {
    const script = createScript([reply(toolCall("mine")), reply("ok")]);
    const mine = {
      ...tool("mine"),
      postProcess: () => ({ content: [{ type: "text" as const, text: "fixed" }], details: 0 }),
    };
    const session = await start({
      cwd: tempDir(),
      model: scriptedModel(),
      streamFn: script.streamFn,
      tools: ["ls", mine, "read"],
      systemPrompt: "Short.",
    });
    await session.prompt("go");
    expect(said(session.messages)[2]).toBe("toolResult: fixed");
    expect(script.calls[0]?.context.tools?.map(({ name }) => name)).toEqual(["ls", "mine", "read"]);
  });

  it("names what is near for a tool and for a model that are not known", async () => {
    const cwd = tempDir();
    await expect(start({ cwd, model: scriptedModel(), tools: ["raed"] })).rejects.toThrow('Did you mean "read"?');
    await expect(start({ cwd, model: "no/such-model", env: { TAU_DIR: tempDir() } })).rejects.toThrow("no");
  });

  it("finds a named model and its key as the command does, and does not show the key to tools (R142, R143)", async () => {
    const { server, env } = await homeWithServer([
      reply(toolCall("bash", { command: 'echo "[$LOCAL_KEY]"; printf "key-of-the-%s" loopback' })),
      reply("done"),
    ]);
    try {
      const session = await start({ cwd: tempDir(), model: "loopback/local-one", env });
      expect(await session.prompt("hello")).toMatchObject({ status: "done" });
      expect(server.requests[0]?.headers.authorization).toBe("Bearer key-of-the-loopback");
      expect(resultText(session)).toContain("[]");
      expect(resultText(session)).not.toContain("key-of-the-loopback");
      expect(await session.dispatch({ type: "set_model", provider: "loopback", modelId: "local-one" })).toMatchObject({
        id: "local-one",
      });
      server.assertDone();
    } finally {
      await server.close();
    }
  });

  it.each([
    ["nothing at all", undefined, "cwd"],
    ["no model", { cwd: "/" }, "model"],
    ["an empty name", { cwd: "/", model: " " }, "model"],
    ["a model that is none", { cwd: "/", model: { name: "x" } }, "model"],
    ["no folder", { model: scriptedModel() }, "cwd"],
    ["a relative folder", { cwd: "src", model: scriptedModel() }, "cwd"],
    ["a folder that is not text", { cwd: 5, model: scriptedModel() }, "cwd"],
    ["a folder that is not there", { cwd: "/no/such/folder", model: scriptedModel() }, "cwd"],
    ["a file as the folder", { cwd: process.execPath, model: scriptedModel() }, "cwd"],
  ])("R085 refuses %s in one sentence that names the option", async (_name, options, option) => {
    const refusal = createAgentSession(options as unknown as CreateAgentSessionOptions);
    const error = await refusal.catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(ConfigError);
    expect(String(error)).toMatch(new RegExp(`^ConfigError: createAgentSession[^\\n]*\\b${option}\\b`));
  });

  it("E6 a key that is not there is an outcome of kind auth, and its text is for a program", async () => {
    const env = { TAU_DIR: tempDir() };
    const session = await start({ cwd: tempDir(), model: "anthropic/claude-sonnet-4-5", env });
    const outcome = await session.prompt("hello");
    expect(outcome).toMatchObject({ status: "error", errorKind: "auth" });
    expect(JSON.stringify(outcome)).toMatch(
      /No API key for .*give ANTHROPIC_API_KEY in `env`, or a function `getApiKey`/,
    );
    expect(JSON.stringify(outcome)).not.toContain("--api-key");
  });

  it("a given getApiKey, streamFn, thinking level and store win over the defaults", async () => {
    const { server, env } = await homeWithServer([reply("one")]);
    const script = createScript([reply("scripted")]);
    try {
      const keyed = await start({ cwd: tempDir(), model: "loopback/local-one", env, getApiKey: () => "mine" });
      expect(await keyed.prompt("hello")).toMatchObject({ status: "done" });
      expect(server.requests[0]?.headers.authorization).toBe("Bearer mine");
      const store = newStore();
      const { streamFn } = script;
      const session = await start({
        cwd: tempDir(),
        model: "loopback/local-one",
        env,
        streamFn,
        store,
        thinkingLevel: "off",
      });
      expect(await session.prompt("hello")).toMatchObject({ status: "done" });
      expect((await session.dispatch({ type: "get_session_stats" })).sessionFile).toBe(store.path);
    } finally {
      await server.close();
    }
  });

  it("R080 what the tools left running ends with the session, and with this one only", async () => {
    const cwd = tempDir();
    mkdirSync(join(cwd, "a"));
    const script = () => createScript([reply(toolCall("bash", { command: "sleep 600 & echo pid=$!" })), reply("left")]);
    const make = () => start({ cwd, model: scriptedModel(), streamFn: script().streamFn });
    const [one, two] = [await make(), await make()];
    const pids: number[] = [];
    for (const session of [one, two]) {
      await session.prompt("go");
      pids.push(Number(/pid=(\d+)/.exec(resultText(session))?.[1]));
    }
    let told = false;
    const third = await start({
      ...{ cwd, model: scriptedModel(), streamFn: script().streamFn },
      onDispose: () => {
        told = true;
      },
    });
    await third.dispose();
    await one.dispose();
    const lives = (pid: number) => listProcesses().some((entry) => entry.pid === pid && isRunning(entry));
    expect([told, ...pids.map(lives)]).toEqual([true, false, true]);
  });

  it("keeps outputs that are too long in the folder of this user, and shortens a context, as the command does", async () => {
    const script = createScript([reply(toolCall("bash", { command: "seq 1 20000" })), reply("long")]);
    const options = { cwd: tempDir(), model: scriptedModel(), streamFn: script.streamFn };
    const session = await start(options);
    await session.prompt("go");
    expect(resultText(session)).toContain(join(tmpdir(), `tau-${process.getuid?.() ?? "user"}`));
    const refusal = (made: AgentSession) =>
      made.dispatch({ type: "compact" }).then(String, (error: unknown) => Reflect.get(Object(error), "code"));
    expect(await refusal(session)).not.toBe("no_compactor");
    expect(await refusal(await start({ ...options, compactor: false }))).toBe("no_compactor");
  });

  it("R283 lays settings over the defaults group by group", async () => {
    const steps = [failure("503 busy", "retryable"), failure("503 busy", "retryable"), reply("late")];
    const { streamFn } = createScript(steps);
    const sleep = () => Promise.resolve();
    const options = { cwd: tempDir(), model: scriptedModel(), streamFn, sleep, settings: { retry: { maxRetries: 5 } } };
    expect(await (await start(options)).prompt("go")).toMatchObject({ status: "done" });
  });

  it("R283 what is undefined in settings changes nothing, and the defaults are exported", async () => {
    const { streamFn } = createScript([failure("503 busy", "retryable"), reply("late")]);
    const sleep = () => Promise.resolve();
    const given = { retry: { maxRetries: undefined, enabled: undefined }, steeringMode: undefined, budget: undefined };
    const settings: object = given;
    const session = await start({ cwd: tempDir(), model: scriptedModel(), streamFn, sleep, settings });
    expect(await session.prompt("go")).toMatchObject({ status: "done", text: "late" });
    expect(session.state.steeringMode).toBe(DEFAULT_SESSION_SETTINGS.steeringMode);
  });

  it("R284 a streamFn of one's own that throws is tried again, and its usage is priced by the model", async () => {
    let asked = 0;
    const model = { ...scriptedModel(), cost: { input: 3, output: 15, cacheRead: 0, cacheWrite: 0 } };
    const streamFn: StreamFn = async () => {
      asked++;
      if (asked === 1) throw new TypeError("fetch failed");
      const stream = createAssistantStream();
      const message = emptyAssistantMessage(model);
      const usage = { ...message.usage, input: 1_000_000, output: 100_000 };
      if (asked === 2)
        stream.push({
          type: "error",
          reason: "error",
          error: { ...message, stopReason: "error", errorMessage: "HTTP 503", errorDetails: { status: 503 } },
        });
      else
        stream.push({
          type: "done",
          reason: "stop",
          message: { ...message, usage, content: [{ type: "text", text: "late" }] },
        });
      stream.end();
      return stream;
    };
    const session = await start({ cwd: tempDir(), model, streamFn, sleep: () => Promise.resolve() });
    expect(await session.prompt("go")).toMatchObject({ status: "done", text: "late", cost: 4.5 });
    expect(asked).toBe(3);
  });

  it("a mistake of the options or the configuration has a code and its facts", async () => {
    const cwd = tempDir();
    const env = { TAU_DIR: tempDir() };
    const failures: [CreateAgentSessionOptions, object][] = [
      [
        { cwd: join(cwd, "no"), model: scriptedModel() },
        { code: "folder_missing", params: { path: join(cwd, "no") } },
      ],
      [
        { cwd, env, model: "no/such" },
        { code: "model_unknown", params: { name: "no/such" } },
      ],
      [
        { cwd, env, model: "claude" },
        { code: "model_ambiguous", params: { name: "claude" } },
      ],
    ];
    for (const [options, failure] of failures) {
      const error = await createAgentSession(options).catch((reason: unknown) => reason);
      expect(error).toMatchObject(failure);
      expect(String(error)).not.toContain("--model");
    }
  });

  it("runs commands of the user where its tools work", async () => {
    const cwd = tempDir();
    const { streamFn } = createScript([]);
    const session = await start({
      cwd,
      model: scriptedModel(),
      streamFn,
      env: { PATH: "/bin:/usr/bin", WORD: "heron" },
    });
    expect(await session.dispatch({ type: "bash", command: "echo $WORD; pwd" })).toMatchObject({
      exitCode: 0,
      output: expect.stringContaining("heron"),
    });
  });
});
