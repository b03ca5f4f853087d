import { execFile } from "node:child_process";
import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { AssistantMessage, Message, ToolCall } from "../protocol/message.ts";
import { scriptedModel } from "../testing.ts";
import { DEMO_PROMPT } from "./demo.ts";
import { streamScripted } from "./index.ts";

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "tau-script-"));
});
afterEach(() => rm(dir, { recursive: true }));

const user = (content: string): Message => ({ role: "user", content, timestamp: 0 });
const textOf = (message: Message) =>
  typeof message.content === "string"
    ? message.content
    : message.content.map((b) => ("text" in b ? b.text : "")).join("");

describe("a script file", () => {
  const ask = async (messages: Message[], baseUrl: string) =>
    (await streamScripted(scriptedModel({ baseUrl }), { messages }, {})).result();

  const write = async (script: unknown) => {
    const path = join(dir, "script.json");
    await writeFile(path, typeof script === "string" ? script : JSON.stringify(script));
    return pathToFileURL(path).href;
  };

  it("answers by the number of assistant messages, so a resumed process continues", async () => {
    const url = await write([{ content: ["one"] }, { content: ["two"], stopReason: "length" }]);
    const first = await ask([user("a")], url);
    expect(textOf(first)).toBe("one");
    expect(await ask([user("a"), first, user("b")], url)).toMatchObject({
      stopReason: "length",
      content: [{ text: "two" }],
    });
    expect(textOf(await ask([user("a")], url))).toBe("one");
  });

  it("has attempts at one place", async () => {
    const busy = { content: [], errorMessage: "busy", errorKind: "retryable" };
    const url = await write([[busy, busy, { content: ["there"] }]]);
    const seen = [await ask([], url), await ask([], url), await ask([], url), await ask([], url)];
    expect(seen.map((message) => message.errorKind ?? textOf(message))).toEqual([
      "retryable",
      "retryable",
      "there",
      "there",
    ]);
  });

  it("can count requests instead", async () => {
    const url = await write({ by: "requests", steps: [{ content: ["one"] }, { content: ["two"] }] });
    expect([textOf(await ask([], url)), textOf(await ask([], url))]).toEqual(["one", "two"]);
  });

  it.each([
    ["missing", undefined, "Cannot read the script"],
    ["no JSON", "{", "is not JSON"],
    ["no script", { a: 1 }, "is not a script"],
    ["too short", [], "Unexpected request 1"],
  ])("says what is wrong: %s", async (_name, script, problem) => {
    const url = script === undefined ? pathToFileURL(join(dir, "none.json")).href : await write(script);
    const message = await ask([], url);
    expect(message).toMatchObject({ stopReason: "error", errorKind: "invalid_request" });
    expect(message.errorMessage).toContain(problem);
  });

  it("refuses a base URL that is not a file", async () => {
    expect((await ask([], "http://127.0.0.1:1")).errorMessage).toContain("needs the file URL");
  });
});

describe("the demo", () => {
  const sample = fileURLToPath(new URL("../../../cli/sample", import.meta.url));
  const tools = ["bash", "read", "edit"].map((name) => ({ name, description: "", parameters: {} }));
  const ask = async (messages: Message[], available = tools) =>
    (await streamScripted(scriptedModel(), { messages, tools: available }, {})).result();

  /** The three tools in small. */
  const runTool = async (call: ToolCall): Promise<{ text: string; isError: boolean }> => {
    if (call.name === "bash") return shell(String(call.arguments.command));
    const path = join(dir, String(call.arguments.path));
    const before = await readFile(path, "utf8");
    if (call.name === "read") return { text: before, isError: false };
    const [edit] = call.arguments.edits as { oldText: string; newText: string }[];
    if (!edit || !before.includes(edit.oldText)) return { text: "no match", isError: true };
    await writeFile(path, before.replace(edit.oldText, edit.newText));
    return { text: "ok", isError: false };
  };

  // The test runner that runs this test must not take the sample's for its own.
  const shell = (command: string) =>
    new Promise<{ text: string; isError: boolean }>((resolve) => {
      const { NODE_TEST_CONTEXT: _context, ...env } = process.env;
      execFile("/bin/sh", ["-c", command], { cwd: dir, env }, (error, stdout) =>
        resolve({ text: stdout, isError: error !== null }),
      );
    });

  const play = async (messages: Message[], run: typeof runTool = runTool): Promise<AssistantMessage> => {
    for (let turns = 0; turns < 10; turns++) {
      const message = await ask(messages);
      messages.push(message);
      const calls = message.content.filter((block) => block.type === "toolCall");
      if (calls.length === 0) return message;
      for (const call of calls) {
        const { text, isError } = await run(call);
        const content = [{ type: "text" as const, text }];
        messages.push({ role: "toolResult", toolCallId: call.id, toolName: call.name, content, isError, timestamp: 0 });
      }
    }
    throw new Error("the demo goes round in circles");
  };

  it("fixes the sample project and says that it is a script", async () => {
    await cp(sample, dir, { recursive: true });
    const messages = [user(DEMO_PROMPT)];
    const last = await play(messages);
    expect(textOf(last)).toMatch(/Done: \d+ tests pass/);
    expect(textOf(last)).toContain("a script, not a model");
    expect(textOf(last)).toContain("ANTHROPIC_API_KEY");
    expect(await readFile(join(dir, "src/price.js"), "utf8")).toContain("percent / 100");
    expect(messages.filter((message) => message.role === "toolResult").map((result) => result.toolName)).toEqual([
      ...["bash", "read", "read", "edit", "bash"],
    ]);
  });

  it("says so when the test is green already", async () => {
    await cp(sample, dir, { recursive: true });
    await play([user(DEMO_PROMPT)]);
    const messages = [user(DEMO_PROMPT)];
    expect(textOf(await play(messages))).toContain("green already");
    expect(messages).toHaveLength(4);
  });

  it.each([
    ["bash", "denied by the user", true, "could not run the test: denied by the user"],
    ["read", "no such file", true, "could not read the files: no such file"],
    ["edit", "the file has changed", true, "The edit failed: the file has changed"],
    ["read", "another file", false, "is not the one that I know"],
  ])("stops when %s answers: %s", async (name, text, isError, said) => {
    await cp(sample, dir, { recursive: true });
    const last = await play([user(DEMO_PROMPT)], async (call) =>
      call.name === name ? { text, isError } : runTool(call),
    );
    expect(textOf(last)).toContain(said);
    expect(textOf(last)).not.toContain("Done");
  });

  it("never calls a red run green", async () => {
    await cp(sample, dir, { recursive: true });
    const keep: typeof runTool = async (call) =>
      call.name === "edit" ? { text: "ok", isError: false } : runTool(call);
    expect(textOf(await play([user(DEMO_PROMPT)], keep))).toContain("still not green");
    const crash = async () => ({ text: "# pass 2\n# fail 0", isError: true });
    let runs = 0;
    const late: typeof runTool = async (call) => (call.name === "bash" && ++runs === 2 ? crash() : runTool(call));
    expect(textOf(await play([user(DEMO_PROMPT)], late))).toContain("still not green");
  });

  it("says that it is a script to any other prompt, and without its tools", async () => {
    for (const messages of [[user("fix my tests")], [user(DEMO_PROMPT), user("and hurry")], []]) {
      const message = await ask(messages);
      expect(textOf(message)).toContain("I am not a model");
      expect(textOf(message)).toContain("ANTHROPIC_API_KEY");
      expect(message.stopReason).toBe("stop");
    }
    expect(textOf(await ask([user(DEMO_PROMPT)], []))).toContain("bash, read, edit tools");
  });
});
