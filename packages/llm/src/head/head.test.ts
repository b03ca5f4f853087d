import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { SystemMessage } from "../protocol/message.ts";
import type { Tool } from "../protocol/tool.ts";
import { headChange, headMessage } from "./change.ts";
import { EMPTY_HEAD, foldHead, headOf, promptText, replayHead } from "./fold.ts";

const tool = (name: string, description = name): Tool => ({ name, description, parameters: { type: "object" } });
const system = (more: Partial<SystemMessage>): SystemMessage => ({
  role: "system",
  content: "",
  timestamp: 0,
  ...more,
});
const plain = (value: unknown) => JSON.parse(JSON.stringify(value));

const names = fc.uniqueArray(fc.constantFrom("a", "b", "c", "d"), { maxLength: 4 });
const state = fc.record({
  sections: fc.dictionary(fc.constantFrom("x", "y", "z", "7"), fc.string({ minLength: 1 })),
  tools: fc.tuple(names, fc.constantFrom("one", "two")).map(([list, text]) => list.map((name) => tool(name, text))),
});

describe("the head of a session", () => {
  it("B8 replaying head and changes gives the prompt and the tools that hold", () => {
    fc.assert(
      fc.property(state, fc.array(state, { maxLength: 5 }), (first, later) => {
        let told = foldHead(EMPTY_HEAD, headMessage(headOf(first, first.tools), 0));
        for (const next of later) {
          const wanted = headOf(next, next.tools);
          const change = headChange(told, wanted, 0);
          if (change) told = foldHead(told, plain(change));
          expect(new Map(told.sections)).toEqual(wanted.sections);
          expect(new Map(told.tools)).toEqual(wanted.tools);
          expect(headChange(told, wanted, 0)).toBeUndefined();
        }
      }),
    );
  });

  it("B8 O3 one message, many folds and one replay say the same in the same bytes, and change nothing that was given", () => {
    const change = fc.record({
      content: fc.constantFrom("", "text", "more"),
      sections: fc.dictionary(fc.constantFrom("x", "y", "7"), fc.option(fc.constantFrom("", "one", "two"))),
      toolsAdded: names.map((list) => list.map((name) => tool(name))),
      toolsRemoved: names.map((list) => list.map((name) => ({ name }))),
    });
    fc.assert(
      fc.property(fc.array(change, { maxLength: 6 }), (changes) => {
        const messages = changes.map((each) => system(each));
        const before = JSON.stringify(messages);
        const bytes = (head: typeof EMPTY_HEAD) => JSON.stringify([promptText(head), [...head.tools.values()]]);
        const replayed = replayHead(EMPTY_HEAD, [{ role: "user" }, ...messages, { role: "assistant" }]);
        expect(bytes(messages.reduce(foldHead, EMPTY_HEAD))).toBe(bytes(replayed));
        expect(bytes(replayHead(EMPTY_HEAD, plain(messages)))).toBe(bytes(replayed));
        expect(JSON.stringify(messages)).toBe(before);
        expect(bytes(EMPTY_HEAD)).toBe('["",[]]');
      }),
    );
  });

  it("B8 a change is what changed and nothing else", () => {
    const told = headOf({ sections: { role: "r", env: "e" } }, [tool("read"), tool("bash")]);
    const wanted = headOf({ sections: { role: "r", skills: "s" } }, [tool("read"), tool("edit")]);
    expect(headChange(told, wanted, 7)).toEqual({
      role: "system",
      content: "",
      sections: { skills: "s", env: null },
      toolsAdded: [tool("edit")],
      toolsRemoved: [{ name: "bash" }],
      timestamp: 7,
    });
    expect(promptText(told)).toBe("r\n\ne");
  });

  it("B8 a section and a tool keep their places, and what goes and comes back goes to the end", () => {
    const first = system({ sections: { a: "1", b: "2" }, toolsAdded: [tool("read"), tool("bash")] });
    const same = system({ sections: { a: "changed" }, toolsAdded: [tool("read", "changed")] });
    const gone = system({ sections: { a: null }, toolsRemoved: [{ name: "read" }] });
    const back = system({ sections: { a: "back" }, toolsAdded: [tool("read")] });
    const shown = (messages: SystemMessage[]) => {
      const head = replayHead(EMPTY_HEAD, messages);
      return [promptText(head), [...head.tools.keys()].join()];
    };
    expect(shown([first, same])).toEqual(["changed\n\n2", "read,bash"]);
    expect(shown([first, gone, back])).toEqual(["2\n\nback", "bash,read"]);
    const both = system({ toolsRemoved: [{ name: "read" }], toolsAdded: [tool("read", "new")] });
    expect(shown([first, both])).toEqual(["1\n\n2", "bash,read"]);
  });

  it("B8 only what the model sees of a tool is said", () => {
    const whole = { ...tool("read"), label: "Read", execute: () => undefined };
    const message = headMessage(headOf("prompt", [whole]), 3);
    const expected = {
      role: "system",
      content: "",
      sections: { prompt: "prompt" },
      toolsAdded: [tool("read")],
      timestamp: 3,
    };
    expect(message).toEqual(expected);
    expect(headChange(EMPTY_HEAD, headOf("prompt", [whole]), 3)).toEqual(expected);
    expect(headMessage(headOf(""), 0)).toEqual(system({ sections: {}, toolsAdded: [] }));
  });
});
