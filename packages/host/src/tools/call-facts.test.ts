import { describe, expect, it } from "vitest";
import { buildSystemPrompt } from "../prompt/system-prompt.ts";
import { callBody, callSummary, touchedPaths } from "./call-facts.ts";
import type { ToolFacts } from "./definition.ts";

const nothing = { reads: [], writes: [], searches: [] };

describe("what is known of a call", () => {
  it.each<[string, Record<string, unknown>, string]>([
    ["grep", { pattern: "pattern", path: "src" }, '"pattern" in src'],
    ["grep", { pattern: '"x"', glob: "*.ts" }, '"\\"x\\"" in . (*.ts)'],
    ["find", { pattern: "*.ts", path: "src" }, "*.ts in src"],
    ["find", { pattern: "*.ts" }, "*.ts in ."],
    ["ls", { path: "src" }, "src"],
    ["ls", {}, "."],
    ["read", { path: "a.ts" }, "a.ts"],
    ["read", { path: "a.ts", offset: 20 }, "a.ts from line 20"],
    ["bash", { timeout: 3, command: "npm test" }, "npm test"],
    ["edit", { edits: [], path: "a.ts" }, "a.ts"],
    ["write", { content: "x", path: "a.ts" }, "a.ts"],
    // Calls of other programs, and calls that are not what they should be.
    ["shell", { timeout: 1, cmd: "ls" }, "ls"],
    ["shell", { timeout: 1 }, '{"timeout":1}'],
    ["shell", {}, ""],
    ["grep", { pattern: 3, path: "src" }, "src"],
    ["read", { path: null }, '{"path":null}'],
    ["constructor", { x: "y" }, "y"],
  ])("R273 is said in a few words for %s %j", (name, args, summary) => {
    expect(callSummary({ name, args })).toBe(summary);
  });

  it.each<[string, Record<string, unknown>, object]>([
    ["read", { path: "a" }, { ...nothing, reads: ["a"] }],
    ["edit", { path: "a", edits: [] }, { ...nothing, reads: ["a"], writes: ["a"] }],
    ["write", { path: "a" }, { ...nothing, writes: ["a"] }],
    ["grep", { pattern: "x" }, { ...nothing, searches: ["."] }],
    ["ls", { path: "a" }, { ...nothing, searches: ["a"] }],
    ["bash", { command: "cat a" }, nothing],
    ["unknown", { path: "a" }, nothing],
    ["read", { path: 3 }, nothing],
  ])("names the paths of %s %j", (name, args, paths) => {
    expect(touchedPaths({ name, args })).toEqual(paths);
  });

  it.each<[string, Record<string, unknown>, string | undefined]>([
    ["bash", { command: "ls" }, "ls"],
    ["bash", { command: 1 }, undefined],
    ["write", { content: "a\nb\n" }, "+a\n+b"],
    ["edit", { edits: [{ oldText: "a", newText: "b" }, null, { oldText: "c", newText: "d" }] }, "-a\n+b\n@@\n-c\n+d"],
    ["edit", { oldText: "a", newText: "b" }, "-a\n+b"],
    ["edit", { edits: "x" }, undefined],
    ["read", { path: "a" }, undefined],
  ])("shows the body of %s %j", (name, args, text) => {
    expect(callBody({ name, args })?.text).toBe(text);
  });

  it("asks a tool of another origin, and does without one that throws", () => {
    const tool: ToolFacts = {
      about: "url",
      summary: ({ url }) => `GET ${String(url)}`,
      touches: () => {
        throw new Error("no");
      },
    };
    const call = { name: "fetch", args: { mode: "fast", url: "http://x" } };
    expect(callSummary(call, () => tool)).toBe("GET http://x");
    expect(callSummary(call)).toBe("fast");
    expect(touchedPaths(call, () => tool)).toEqual(nothing);
  });

  it("gives the prompt its advice, together with the tools that it needs", () => {
    const mine = { name: "fetch", advice: [{ text: "Fetch once." }, { text: "Save it.", needs: ["write"] }] };
    const input = { cwd: "/w", platform: "linux", contextFiles: [], skills: [] };
    const alone = buildSystemPrompt({ ...input, tools: [mine] }).text;
    expect(alone).toContain("- Fetch once.");
    expect(alone).not.toContain("Save it.");
    expect(buildSystemPrompt({ ...input, tools: ["write", mine] }).text).toContain("- Save it.");
  });
});
