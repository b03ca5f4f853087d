import { symlinkSync } from "node:fs";
import { Agent } from "@tau/agent";
import type { ToolResultMessage } from "@tau/llm";
import { createScript, reply, type ScriptToolCall, scriptedModel, toolCall } from "@tau/llm/testing";
import { expect, it } from "vitest";
import { type FilesBench, filesBench, oneEdit } from "./__fixtures__/files-bench.ts";
import { createBuiltinTools } from "./builtin.ts";
import { ToolRegistry } from "./registry.ts";

/** The results of one message with several calls, run by the loop with the real tools. */
async function runBatch({ environment }: FilesBench, calls: readonly ScriptToolCall[]): Promise<ToolResultMessage[]> {
  const script = createScript([reply(...calls), reply("done")]);
  const withPath = { ...environment, env: { PATH: process.env.PATH ?? "" } };
  const registry = new ToolRegistry(withPath, createBuiltinTools(withPath));
  const agent = new Agent({
    initialState: { model: scriptedModel(), tools: registry.forLoop() },
    streamFn: script.streamFn,
  });
  await agent.prompt("go");
  script.assertDone();
  return agent.state.messages.filter((message) => message.role === "toolResult");
}

const textOf = ({ content }: ToolResultMessage) =>
  content.map((block) => (block.type === "text" ? block.text : "")).join();

it("R062 the calls of one message run in order: mkdir, write, cat", async () => {
  const bench = filesBench();
  const results = await runBatch(bench, [
    toolCall("bash", { command: "sleep 0.2; mkdir d" }),
    toolCall("write", { path: "d/a", content: "from write" }),
    toolCall("bash", { command: "cat d/a" }),
    toolCall("read", { path: "d/a" }),
  ]);
  expect(results.map(({ isError }) => isError)).toEqual([false, false, false, false]);
  expect(textOf(results[2] as ToolResultMessage)).toContain("from write");
  expect(textOf(results[3] as ToolResultMessage)).toBe("from write");
});

it("R061 six edits in one message, by different paths and in the older shape, are all there", async () => {
  const bench = filesBench();
  bench.put("f", "1.\n2.\n3.\n4.\n5.\n6.\n");
  symlinkSync("f", bench.path("link"));
  const paths = ["f", "./f", "link", bench.path("f"), "f", "link"];
  const results = await runBatch(
    bench,
    paths.map((path, index) =>
      toolCall(
        "edit",
        index === 4
          ? { path, oldText: "5.", newText: "edited 5" }
          : { ...oneEdit(path, `${index + 1}.`, `edited ${index + 1}`) },
      ),
    ),
  );
  expect(results.map(({ isError }) => isError)).toEqual(paths.map(() => false));
  expect(bench.text("f")).toBe("edited 1\nedited 2\nedited 3\nedited 4\nedited 5\nedited 6\n");
});
