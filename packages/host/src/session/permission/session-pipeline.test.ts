import { reply, toolCall } from "@tau/llm/testing";
import { describe, expect, it } from "vitest";
import { HookBus } from "../../hooks/hook-bus.ts";
import type { HookRow } from "../../hooks/points.ts";
import { errorResult, type ToolDefinition, textResult } from "../../tools/definition.ts";
import { boundTool } from "../../tools/pipeline/bound-tool.ts";
import {
  cleanUpAfterEach,
  fileEntries,
  type HarnessOptions,
  startSession,
  textOf,
  tool,
} from "../__fixtures__/harness.ts";
import type { RunEnding } from "../run/outcome.ts";

cleanUpAfterEach();

const KEY = "sk-ant-0123456789abcdef";

/** A tool as the assembly hands it to a session. */
function definition(more: Partial<ToolDefinition> = {}) {
  const tool: ToolDefinition = {
    name: "look",
    label: "look",
    description: "",
    parameters: { type: "object", properties: { n: { type: "number" } } },
    execute: async () => textResult("seen", undefined),
    ...more,
  };
  const settings = { bashTimeoutSeconds: 1 };
  const environment = { cwd: "/tmp", homeDir: "/tmp", env: {}, tauDir: "/tmp", tempDir: "/tmp", settings };
  return boundTool(tool, environment);
}

/** Runs one prompt whose reply calls `look`. */
async function runOnce(options: HarnessOptions) {
  const script = [reply(toolCall("look", { n: 1 })), reply("done")];
  const harness = await startSession(script, { tools: [tool("look", () => "seen")], ...options });
  const outcome = await harness.session.prompt("go");
  const result = harness.session.messages.find(({ role }) => role === "toolResult");
  return { ...harness, outcome, result, text: textOf(result) };
}

function busOf(...rows: HookRow<RunEnding>[]): HookBus<RunEnding> {
  const bus = new HookBus<RunEnding>();
  bus.replace([], rows);
  return bus;
}

describe("the pipeline of a session", () => {
  const additions: [string, HarnessOptions][] = [
    ["afterToolCall", { hooks: { afterToolCall: () => textResult(`${KEY} ${"x".repeat(300_000)}`, { key: KEY }) } }],
    [
      "a row of an extension",
      {
        bus: busOf({
          name: "adds",
          stage: "extension",
          point: "afterTool",
          run: ({ result }) => ({
            content: [...result.content, { type: "text", text: `${KEY} ${"x".repeat(300_000)}` }],
            details: { key: KEY },
          }),
        }),
      },
    ],
    [
      "a row that replaces the message",
      {
        bus: busOf({
          name: "rewrites",
          stage: "extension",
          point: "message",
          run: (message) =>
            message.role === "toolResult"
              ? {
                  ...message,
                  content: [{ type: "text", text: `${KEY} ${"x".repeat(300_000)}` }],
                  details: { key: KEY },
                }
              : undefined,
        }),
      },
    ],
    [
      "a tool's postProcess",
      { tools: [definition({ postProcess: () => textResult(`${KEY} ${"x".repeat(300_000)}`, { key: KEY }) })] },
    ],
  ];

  it.each(additions)("R245 what %s adds to a result is masked and capped", async (_who, options) => {
    const kept: string[] = [];
    const { store, text, script } = await runOnce({
      ...options,
      secrets: [KEY],
      keepWhole: async (whole) => {
        kept.push(whole);
        return "/kept";
      },
    });
    expect(text).toContain("[secret]");
    expect(text).toContain("the whole is in /kept");
    expect(text.length).toBeLessThan(101_000);
    expect(kept).toHaveLength(1);
    const seen = JSON.stringify([kept, fileEntries(store), script.calls.map(({ context }) => context.messages)]);
    expect(seen).not.toContain(KEY);
    expect(seen).toContain("[secret]");
  });

  it("R245 a failed hook leaves the real output and a masked note", async () => {
    const fail = () => {
      throw new Error(`cannot use ${KEY}`);
    };
    const { text, events } = await runOnce({ secrets: [KEY], hooks: { afterToolCall: fail } });
    expect(text).toBe("seen[The hook after this call failed: cannot use [secret]]");
    expect(events).toContainEqual(expect.objectContaining({ type: "listener_error", event: "afterTool" }));
  });

  it("P1 a row's denial holds, and the tool does not run", async () => {
    let ran = false;
    const bus = busOf({
      name: "guard",
      stage: "extension",
      point: "beforeTool",
      run: ({ args }) => (args.n === 1 ? { action: "deny", reason: "not this one" } : undefined),
    });
    const look = tool("look", () => {
      ran = true;
    });
    const { text, events, result } = await runOnce({ bus, tools: [look] });
    expect([text, ran]).toEqual(["not this one", false]);
    expect(result).toMatchObject({ isError: true });
    expect(events).toContainEqual(expect.objectContaining({ type: "tool_denied", reason: "not this one" }));
  });

  it("P3 a row's question is denied where nobody is, and put to the user where somebody is", async () => {
    const asking = () =>
      busOf({ name: "asks", stage: "extension", point: "beforeTool", run: () => ({ action: "ask", reason: "Sure?" }) });
    const alone = await runOnce({ bus: asking() });
    expect(alone.outcome).toMatchObject({ status: "denied", denied: [{ toolName: "look" }] });
    const script = [reply(toolCall("look", {})), reply("done")];
    const harness = await startSession(script, { bus: asking(), attended: true, tools: [tool("look", () => "seen")] });
    const run = harness.session.run("go");
    for (let next = await run.next(); !next.done; ) {
      const asked = next.value.type === "permission_request" ? next.value : undefined;
      next = await run.next(asked && { type: "permission", id: asked.id, decision: "allow" });
    }
    expect(harness.session.messages.map(textOf)).toContain("seen");
  });

  it.each([
    ["denies", { action: "deny" as const, reason: "never" }, "never"],
    ["allows", { action: "allow" as const }, "seen"],
    ["would ask, where everything is allowed", { action: "ask" as const, reason: "?" }, "seen"],
    ["has no opinion", undefined, "seen"],
  ])("P1 a tool's own checkPermission is asked: it %s", async (_what, opinion, expected) => {
    const contexts: unknown[] = [];
    const { text } = await runOnce({
      tools: [
        definition({
          checkPermission(args, { toolCallId, environment }) {
            contexts.push([args, toolCallId, environment.cwd]);
            return opinion;
          },
        }),
      ],
    });
    expect(text).toBe(expected);
    expect(contexts).toEqual([[{ n: 1 }, expect.any(String), "/tmp"]]);
  });

  it("C11 a tool whose checkPermission throws does not run", async () => {
    const fail = () => {
      throw new Error("broken");
    };
    const { text } = await runOnce({ tools: [definition({ checkPermission: fail })] });
    expect(text).toBe("The check of look failed: broken");
  });

  it("E5 postProcess repairs a failure before the model sees it", async () => {
    const { text } = await runOnce({
      tools: [
        definition({
          execute: async () => errorResult("disk is busy"),
          postProcess: (result) => (result.isError ? textResult("worked the second time", undefined) : undefined),
        }),
      ],
    });
    expect(text).toBe("worked the second time");
  });

  it("X3 rows that are swapped between two prompts hold from the next one", async () => {
    const seen: string[] = [];
    const noting = (name: string): HookRow<RunEnding>[] => [
      { name, stage: "extension", point: "context", run: () => void seen.push(`${name} context`) },
      { name, stage: "extension", point: "message", run: () => void seen.push(`${name} message`) },
    ];
    const [old, fresh] = [noting("old"), noting("new")];
    const bus = busOf(...old);
    const { session } = await startSession([reply("one"), reply("two"), reply("three")], { bus });
    await session.prompt("a");
    expect(new Set(seen.splice(0))).toEqual(new Set(["old message", "old context"]));
    bus.replace(old, fresh);
    await session.prompt("b");
    expect(new Set(seen.splice(0))).toEqual(new Set(["new message", "new context"]));
    bus.replace(fresh, []);
    await session.prompt("c");
    expect(seen).toEqual([]);
  });

  it("X2 messages of rows enter behind the prompt", async () => {
    const bus = busOf({
      name: "reminds",
      stage: "extension",
      point: "beforeTurn",
      run: () => [{ role: "custom", customType: "note", content: "remember", display: false, timestamp: 1 }],
    });
    const { session } = await startSession([reply("ok")], { bus });
    await session.prompt("go");
    expect(session.messages.map(({ role }) => role).slice(0, 3)).toEqual(["user", "custom", "assistant"]);
  });

  it("X6 a message is replaced before the file has it", async () => {
    const bus = busOf({
      name: "corrects",
      stage: "extension",
      point: "message",
      run: (message) =>
        message.role === "assistant" ? { ...message, content: [{ type: "text", text: "better" }] } : undefined,
    });
    const { session, store } = await startSession([reply("bad")], { bus });
    await session.prompt("go");
    expect(JSON.stringify(fileEntries(store))).not.toContain("bad");
    expect(textOf(session.messages.at(-1))).toBe("better");
  });
});
