import type { AgentMessage } from "@tau/agent";
import { describe, expect, it } from "vitest";
import { addToMeter, cachedCounter, contextTokens, estimateMessage, estimateText, reportedTokens } from "./tokens.ts";

const user = (content: string): AgentMessage => ({ role: "user", content, timestamp: 0 });
const usage = (input: number, output: number, cacheRead = 0) => ({
  input,
  output,
  cacheRead,
  cacheWrite: 0,
  totalTokens: input + output + cacheRead,
  cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
});
const assistant = (used: ReturnType<typeof usage>, stopReason: "stop" | "error" = "stop"): AgentMessage => ({
  role: "assistant",
  content: [{ type: "text", text: "ok" }],
  api: "a",
  provider: "p",
  model: "m",
  usage: used,
  stopReason,
  timestamp: 0,
});

describe("token counts", () => {
  it("O2 counting a context twice counts nothing anew, another model is counted by itself", () => {
    let counted = 0;
    const count = cachedCounter((message) => {
      counted++;
      return estimateMessage(message);
    });
    const messages = Array.from({ length: 50 }, (_, index) => user(`message ${index}`));
    const sum = (model: string) => messages.reduce((total, message) => total + count(message, model), 0);
    expect(sum("m")).toBe(sum("m"));
    expect(counted).toBe(50);
    sum("other");
    expect(counted).toBe(100);
    expect(Object.keys(messages[0] as object)).toEqual(["role", "content", "timestamp"]);
  });

  it("O2 a copy of a prompt that was just counted is not counted again", () => {
    const counted: AgentMessage[] = [];
    const count = cachedCounter((message) => counted.push(message));
    const prompts = [user("one"), user("two"), user("one more")];
    for (const prompt of prompts) count(prompt, "m");
    expect(prompts.map((prompt) => count(structuredClone(prompt), "m"))).toEqual([1, 2, 3]);
    expect(counted).toEqual(prompts);
    expect([count({ ...user("two"), timestamp: 1 }, "m"), count(structuredClone(prompts[1] ?? user("")), "n")]).toEqual(
      [4, 5],
    );
  });

  it("estimates scripts of several bytes higher than ASCII", () => {
    expect(estimateText("abcd")).toBe(1);
    expect(estimateText("четыре!")).toBeGreaterThan(3);
    expect(estimateText("中文中文")).toBeGreaterThan(3);
  });

  it("R033 without usage the estimate drives the meter, with usage the provider's count plus the tail", () => {
    expect(reportedTokens(usage(0, 0))).toBeUndefined();
    expect(reportedTokens(usage(Number.NaN, 1))).toBeUndefined();
    let meter = addToMeter({ estimated: 100, tail: 0 }, user("x"), 10);
    expect(contextTokens(meter)).toBe(110);
    meter = addToMeter(meter, assistant(usage(0, 0)), 5);
    expect(contextTokens(meter)).toBe(115);
    meter = addToMeter(meter, assistant(usage(1000, 50, 200)), 5);
    expect(contextTokens(meter)).toBe(1250);
    meter = addToMeter(meter, user("y"), 7);
    expect(contextTokens(meter)).toBe(1257);
    meter = addToMeter(meter, assistant(usage(9999, 0), "error"), 3);
    expect(contextTokens(meter)).toBe(1260);
  });
});
