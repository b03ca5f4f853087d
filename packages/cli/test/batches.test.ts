import { mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { type ScriptToolCall, toolCall, type WireServer, wireServer } from "@tau/llm/testing";
import { afterEach, beforeEach, expect, it } from "vitest";
import { Tau } from "./tau.ts";

let tau: Tau;
let server: WireServer;
beforeEach(() => {
  tau = new Tau();
});
afterEach(async () => {
  await server.close();
  tau.remove();
});

/** Runs one message with these calls through the whole program; gives the results as the model gets them. */
async function run(...calls: ScriptToolCall[]): Promise<{ id: string; text: string }[]> {
  server = await wireServer({ steps: [{ content: calls }, { content: ["done"] }] });
  tau.useServer(server.url, { contextWindow: 1_000_000 });
  const { code, stdout } = await tau.run(["-p", "--model", "mock/m", "go"]);
  expect([code, stdout]).toEqual([0, "done\n"]);
  server.assertDone();
  const messages = server.requests[1]?.body.messages as { role: string; tool_call_id: string; content: string }[];
  const results = messages.filter(({ role }) => role === "tool");
  return results.map(({ tool_call_id, content }) => ({ id: tool_call_id, text: content }));
}

it("R012 500 calls of one message all run and are answered in their order", async () => {
  const calls = Array.from({ length: 500 }, (_, index) => {
    tau.file(`work/f${index}`, `content ${index}\n`);
    return toolCall("read", { path: `f${index}` }, `call_${index}`);
  });
  const results = await run(...calls);
  expect(results.map(({ id }) => id)).toEqual(calls.map(({ id }) => id));
  for (const [index, { text }] of results.entries()) expect(text).toContain(`content ${index}`);
});

it("R061 six edits of one message, by several names of the file, are all there", async () => {
  tau.file("work/f.txt", Array.from({ length: 6 }, (_, line) => `line ${line}\n`).join(""));
  mkdirSync(join(tau.cwd, "d"));
  symlinkSync("../f.txt", join(tau.cwd, "d/link"));
  const names = ["f.txt", "./f.txt", "d/link", join(tau.cwd, "f.txt"), "d/../f.txt", "f.txt"];
  const results = await run(
    ...names.map((path, line) =>
      toolCall("edit", { path, edits: [{ oldText: `line ${line}\n`, newText: `edit ${line}\n` }] }),
    ),
  );
  expect(results).toHaveLength(6);
  expect(readFileSync(join(tau.cwd, "f.txt"), "utf8")).toBe("edit 0\nedit 1\nedit 2\nedit 3\nedit 4\nedit 5\n");
});

it("R062 the calls of one message take effect in their order", async () => {
  const results = await run(
    toolCall("bash", { command: "sleep 0.2; mkdir d" }),
    toolCall("write", { path: "d/a", content: "from a" }),
    toolCall("bash", { command: "cat d/a" }),
    toolCall("edit", { path: "d/a", edits: [{ oldText: "from a", newText: "edited" }] }),
    toolCall("read", { path: "d/a" }),
  );
  expect(results.map(({ text }) => text)).toEqual([
    ...["(no output)", expect.stringContaining("d/a"), "from a", expect.anything(), expect.stringContaining("edited")],
  ]);
});
