import type { WireReply } from "@tau/llm/testing";
import { describe, expect, it } from "vitest";
import { answer, MODEL, testBed } from "./bed.ts";

const bed = testBed();

/** The server says that tools are called, and nothing is. */
const empty: WireReply = { content: ["I call it now."], rawStopReason: "tool_calls" };
const written = (text: string): WireReply => ({ content: [text] });

describe("replies of models that call tools in their own way", () => {
  it("R208 a stop for calls without a call is asked again and leads to the answer", async () => {
    const server = await bed.serve([empty, answer("It is done.")]);
    const run = await bed.tau.run(["-p", ...MODEL, "go"]);
    expect(run).toMatchObject({ code: 0, stdout: "It is done.\n" });
    expect(server.requests).toHaveLength(2);
    expect(run.stderr).toMatch(/tool call/i);
  });

  it("R208 a model that never manages it ends the run visibly, after a few requests", async () => {
    const server = await bed.serve(() => empty);
    const run = await bed.tau.run(["-p", ...MODEL, "go"]);
    expect(run.code).toBe(1);
    expect(run.stderr).toMatch(/tool call/i);
    expect(server.requests.length).toBeLessThanOrEqual(4);
  });

  it("R208 a call that is written as text is run", async () => {
    const call = '<tool_call>\n{"name": "bash", "arguments": {"command": "echo heron > made.txt"}}\n</tool_call>';
    const server = await bed.serve([written(call), answer("Made.")]);
    const run = await bed.tau.run(["-p", ...MODEL, "go"]);
    expect(run).toMatchObject({ code: 0, stdout: "Made.\n" });
    expect(JSON.stringify(server.requests[1]?.body)).toContain('"role":"tool"');
  });

  it("R208 a written call that cannot be read is asked for again", async () => {
    const server = await bed.serve([
      written('<tool_call>{"name": "bash", "arguments": {"comm</tool_call>'),
      answer("Well."),
    ]);
    const run = await bed.tau.run(["-p", ...MODEL, "go"]);
    expect(run).toMatchObject({ code: 0, stdout: "Well.\n" });
    expect(server.requests).toHaveLength(2);
  });
});
