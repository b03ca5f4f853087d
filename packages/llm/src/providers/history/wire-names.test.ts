import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ownToolName, TOOL_ID_RULES, wireToolId, wireToolName } from "./wire-names.ts";

const awkwardText = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.string({ minLength: 60, maxLength: 120 }),
  fc.constantFrom(
    "call_abc|fc_123",
    "toolu_01",
    "a.b c/ü",
    "",
    " ",
    "aaaaaaaaa",
    `${"x".repeat(200)}1`,
    `${"x".repeat(200)}2`,
  ),
);

describe("tool-call ids", () => {
  it.each([
    [TOOL_ID_RULES.mistral, /^[A-Za-z0-9]{9}$/],
    [TOOL_ID_RULES.anthropic, /^[A-Za-z0-9_-]{1,64}$/],
    [TOOL_ID_RULES.openai, /^[A-Za-z0-9_-]{1,40}$/],
  ])("R027 fit %j and stay distinct and stable", (rule, pattern) => {
    fc.assert(
      fc.property(fc.uniqueArray(awkwardText, { maxLength: 50 }), (ids) => {
        const mapped = ids.map((id) => wireToolId(id, rule));
        for (const id of mapped) expect(id).toMatch(pattern);
        expect(new Set(mapped).size).toBe(ids.length);
        expect(ids.map((id) => wireToolId(id, rule))).toEqual(mapped);
        for (const [i, id] of ids.entries()) if (pattern.test(id)) expect(mapped[i]).toBe(id);
      }),
    );
  });

  it("R027 100,000 ids of one family have no clash in nine characters", () => {
    const ids = Array.from({ length: 100_000 }, (_, i) => wireToolId(`call_${i}|fc_${i}`, TOOL_ID_RULES.mistral));
    expect(new Set(ids).size).toBe(ids.length);
  });
});

describe("tool names", () => {
  const tool = (name: string) => ({ name, description: "", parameters: {} });

  it("R165 fit the API, stay distinct, and come back", () => {
    fc.assert(
      fc.property(fc.uniqueArray(awkwardText, { maxLength: 30 }), (names) => {
        const tools = names.map(tool);
        const mapped = names.map(wireToolName);
        for (const name of mapped) expect(name).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
        expect(new Set(mapped).size).toBe(names.length);
        expect(mapped.map((name) => ownToolName(name, tools))).toEqual(names);
      }),
    );
  });

  it("R165 keeps what the model made up, so that the loop can name the tools there are", () => {
    expect(ownToolName("read_file", [tool("read")])).toBe("read_file");
  });
});
