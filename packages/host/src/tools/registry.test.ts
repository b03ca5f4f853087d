import type { AgentToolResult } from "@tau/agent";
import { expect, it } from "vitest";
import { filesBench } from "./__fixtures__/files-bench.ts";
import { createBuiltinTools, DEFAULT_TOOLS } from "./builtin.ts";
import { type ToolDefinition, textResult } from "./definition.ts";
import { ToolRegistry, UnknownToolError } from "./registry.ts";

function echo(name: string, more: Partial<ToolDefinition> = {}): ToolDefinition {
  return {
    name,
    label: name,
    description: `echo of ${name}`,
    parameters: { type: "object", properties: { text: { type: "string" } } },
    execute: async (_id, { text }) => textResult(`${name}: ${text}`, undefined),
    ...more,
  };
}

const call = (args: Record<string, unknown>) => ({ toolCallId: "1", args, signal: new AbortController().signal });
const textOf = ({ content }: AgentToolResult) =>
  content.map((block) => (block.type === "text" ? block.text : "")).join();

it("G1 tools are registered, replaced in their place, removed, exported and executed", async () => {
  const { environment } = filesBench();
  const registry = new ToolRegistry(environment, [echo("a"), echo("b")]);
  registry.register(echo("c"));
  registry.register(echo("a", { description: "new" }));
  expect(registry.list().map(({ name }) => name)).toEqual(["a", "b", "c"]);
  expect(registry.get("a")?.description).toBe("new");
  expect(registry.unregister("b")).toBe(true);
  expect(registry.unregister("b")).toBe(false);
  expect(registry.forModel(["c", "a", "c"])).toEqual([
    { name: "c", description: "echo of c", parameters: echo("c").parameters },
    { name: "a", description: "new", parameters: echo("a").parameters },
  ]);
  expect(textOf(await registry.execute("c", call({ text: "hi" })))).toBe("c: hi");
});

it("G1 unknown names are an error that lists the tools and the nearest one", async () => {
  const { environment } = filesBench();
  const registry = new ToolRegistry(environment, [echo("read"), echo("write")]);
  const result = await registry.execute("raed", call({}));
  expect(result.isError).toBe(true);
  expect(textOf(result)).toBe('There is no tool "raed". Did you mean "read"? Tools: read, write.');
  expect(() => registry.forModel(["grep"])).toThrow(UnknownToolError);
  expect(() => registry.forLoop(["grep"])).toThrow("Tools: read, write");
});

it("G1 arguments are prepared, a throw is an error result", async () => {
  const { environment } = filesBench();
  const registry = new ToolRegistry(environment, [
    echo("old", { prepareArguments: ({ message }) => ({ text: message }) }),
    echo("bad", {
      execute: async () => {
        throw new Error("broken");
      },
    }),
  ]);
  expect(textOf(await registry.execute("old", call({ message: "hi" })))).toBe("old: hi");
  expect(await registry.execute("bad", call({}))).toMatchObject({ isError: true });
});

it("G1 postProcess sees results and failures, with the call, and may fix them", async () => {
  const { environment } = filesBench();
  class Flaky implements ToolDefinition {
    readonly name = "flaky";
    readonly label = "Flaky";
    readonly description = "";
    readonly parameters = {};
    readonly #seen: string[] = [];
    async execute(): Promise<AgentToolResult> {
      throw new Error("first failure");
    }
    async postProcess(result: AgentToolResult, context: { toolCallId: string }): Promise<AgentToolResult | undefined> {
      this.#seen.push(context.toolCallId);
      return textResult(`fixed ${this.#seen.join()} after: ${textOf(result)}`, undefined);
    }
  }
  const registry = new ToolRegistry(environment, [new Flaky(), echo("plain", { postProcess: () => undefined })]);
  const [flaky, plain] = registry.forLoop();
  const signal = new AbortController().signal;
  const fixed = await flaky?.execute("7", {}, signal, () => undefined);
  expect(fixed && textOf(fixed)).toBe("fixed 7 after: first failure");
  const kept = await plain?.execute("8", { text: "x" }, signal, () => undefined);
  expect(kept && textOf(kept)).toBe("plain: x");
});

it("G2 read, bash, edit and write are on by default; grep, find and ls are there", () => {
  const { environment } = filesBench();
  const registry = new ToolRegistry(environment, createBuiltinTools(environment));
  expect(registry.list().map(({ name }) => name)).toEqual(["read", "bash", "edit", "write", "grep", "find", "ls"]);
  expect(registry.forModel(DEFAULT_TOOLS).map(({ name }) => name)).toEqual(["read", "bash", "edit", "write"]);
  for (const { parameters } of registry.forModel()) {
    expect(parameters).toMatchObject({ type: "object", properties: expect.anything() });
  }
});

it("G2 an extension replaces a built-in tool", async () => {
  const { environment } = filesBench();
  const registry = new ToolRegistry(environment, createBuiltinTools(environment));
  registry.register(echo("read"));
  expect(textOf(await registry.execute("read", call({ text: "mine" })))).toBe("read: mine");
  expect(registry.forModel(DEFAULT_TOOLS)[0]?.description).toBe("echo of read");
});

it("the four default tools take at most 550 tokens of 4 bytes in the request", () => {
  const { environment } = filesBench();
  const registry = new ToolRegistry(environment, createBuiltinTools(environment));
  const bytes = (names: readonly string[]) => JSON.stringify(registry.forModel(names)).length;
  expect(bytes(DEFAULT_TOOLS) / 4).toBeLessThanOrEqual(550);
  expect(bytes(["read", "edit", "write"]) / 4).toBeLessThanOrEqual(380);
});

it("R062 tools that change things make their batch sequential, tools that look do not", () => {
  const { environment } = filesBench();
  const modes = Object.fromEntries(
    createBuiltinTools(environment).map(({ name, executionMode }) => [name, executionMode]),
  );
  expect(modes).toMatchObject({ write: "sequential", edit: "sequential", bash: "sequential" });
  for (const name of ["read", "grep", "find", "ls"]) expect(modes[name] ?? "parallel", name).toBe("parallel");
});
