import { expect, it } from "vitest";
import { HookBus } from "../../hooks/hook-bus.ts";
import { secretMask } from "../../platform/secret-mask.ts";
import { filesBench } from "../__fixtures__/files-bench.ts";
import { type ToolDefinition, textResult } from "../definition.ts";
import { ToolRegistry } from "../registry.ts";

const KEY = "sk-ant-0123456789abcdef";
const signal = new AbortController().signal;

it("G1 a call outside of a session goes through the same stages in the same order", async () => {
  const { environment } = filesBench();
  const order: string[] = [];
  const tool: ToolDefinition = {
    name: "t",
    label: "t",
    description: "",
    parameters: { type: "object", properties: { n: { type: "number" } }, required: ["n"] },
    checkPermission: ({ n }) => void order.push(`tool check ${n}`),
    async execute(_id, { n }) {
      order.push(`run ${n}`);
      return textResult(`a ${KEY}`, undefined);
    },
    postProcess: () => void order.push("postProcess"),
  };
  const hooks = new HookBus();
  hooks.add({ name: "b", stage: "host", point: "beforeTool", run: () => void order.push("row before") });
  hooks.add({
    name: "a",
    stage: "host",
    point: "afterTool",
    run({ result }) {
      order.push("row after");
      return { content: [...result.content, { type: "text", text: `b ${KEY} ${"x".repeat(500)}` }] };
    },
  });
  const mask = secretMask([KEY]);
  const registry = new ToolRegistry(environment, [tool], {
    hooks,
    mask: (value) => mask(value),
    resultLimit: () => 100,
    onStart: (id) => order.push(`start ${id}`),
  });
  const result = await registry.execute("t", { toolCallId: "7", args: { n: "5" }, signal });
  expect(order).toEqual(["row before", "tool check 5", "start 7", "run 5", "postProcess", "row after"]);
  const text = JSON.stringify(result);
  expect(text).toContain("a [secret]");
  expect(text).not.toContain(KEY);
  expect(text).toContain("characters left out");
});

it.each([
  ["wrong arguments", { n: "many" }, "Invalid arguments for t"],
  ["a denial", { n: 2 }, "not two"],
  ["a question, since nobody is there", { n: 3 }, "is three fine?"],
  ["a throw", { n: 4 }, "four [secret]"],
])("G1 outside of a session %s is an error result", async (_what, args, expected) => {
  const { environment } = filesBench();
  const tool: ToolDefinition = {
    name: "t",
    label: "t",
    description: "",
    parameters: { type: "object", properties: { n: { type: "number" } } },
    checkPermission({ n }) {
      if (n === 2) return { action: "deny", reason: "not two" };
      return n === 3 ? { action: "ask", reason: "is three fine?" } : undefined;
    },
    execute: async () => {
      throw new Error(`four ${KEY}`);
    },
  };
  const registry = new ToolRegistry(environment, [tool], { mask: secretMask([KEY]) });
  const result = await registry.execute("t", { toolCallId: "1", args, signal });
  expect(result.isError).toBe(true);
  expect(JSON.stringify(result)).toContain(expected);
});
