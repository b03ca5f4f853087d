import type { Tool } from "@tau/llm";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { EMPTY_HEAD, foldHead, headMessage, headPatch, promptText, replayHead } from "./head.ts";

const tool = (name: string, description = name): Tool => ({ name, description, parameters: { type: "object" } });

describe("the head of a session", () => {
  it("B8 replaying head and patches gives the prompt and the tools that hold", () => {
    const names = fc.uniqueArray(fc.constantFrom("a", "b", "c", "d"), { maxLength: 4 });
    const state = fc.record({
      sections: fc.dictionary(fc.constantFrom("x", "y", "z"), fc.string({ minLength: 1 })),
      tools: fc.tuple(names, fc.constantFrom("one", "two")).map(([list, text]) => list.map((name) => tool(name, text))),
    });
    fc.assert(
      fc.property(state, fc.array(state, { maxLength: 5 }), (first, later) => {
        let told = foldHead(EMPTY_HEAD, headMessage(first.sections, first.tools, 0));
        for (const wanted of later) {
          const patch = headPatch(told, wanted, 0);
          if (patch) told = foldHead(told, JSON.parse(JSON.stringify(patch)));
          expect(told.sections).toEqual(wanted.sections);
          expect(new Set(told.tools.map((each) => JSON.stringify(each)))).toEqual(
            new Set(wanted.tools.map((each) => JSON.stringify(each))),
          );
          expect(headPatch(told, wanted, 0)).toBeUndefined();
        }
      }),
    );
  });

  it("B8 a change is a patch of what changed and nothing else", () => {
    const told = replayHead(headMessage({ role: "r", env: "e" }, [tool("read"), tool("bash")], 0), []);
    const patch = headPatch(told, { sections: { role: "r", skills: "s" }, tools: [tool("read"), tool("edit")] }, 7);
    expect(patch).toEqual({
      role: "system",
      content: "",
      sections: { skills: "s", env: null },
      toolsAdded: [tool("edit")],
      toolsRemoved: [{ name: "bash" }],
      timestamp: 7,
    });
    expect(promptText(told)).toBe("r\n\ne");
  });
});
