import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Message, SystemMessage } from "../../protocol/message.ts";
import { requestHead, systemChangeText } from "./request-head.ts";

const tool = (name: string, description = "") => ({ name, description, parameters: { type: "object" } });
const user: Message = { role: "user", content: "hi", timestamp: 0 };
const system = (more: Partial<SystemMessage>): SystemMessage => ({
  role: "system",
  content: "",
  timestamp: 0,
  ...more,
});

describe("the head of a request", () => {
  it("B8 replaying the system messages in order gives the current prompt and tools", () => {
    const messages = [
      system({
        content: "Be good.",
        sections: { a: "A1", b: "B1", c: "C1" },
        toolsAdded: [tool("read"), tool("edit")],
      }),
      user,
      system({
        sections: { b: null, a: "A2", d: "D1" },
        toolsAdded: [tool("read", "new")],
        toolsRemoved: [{ name: "edit" }],
      }),
      user,
      system({ content: [{ type: "text", text: "Be quick." }], toolsAdded: [tool("grep")] }),
    ];
    const head = requestHead({ messages });
    expect(head.systemPrompt).toBe("Be good.\n\nBe quick.\n\nA2\n\nC1\n\nD1");
    expect(head.tools).toEqual([tool("read", "new"), tool("grep")]);
    expect(head.messages).toEqual([user, user]);
  });

  it("B8 a prompt given as a string is the section that later messages patch", () => {
    const messages = [user, system({ sections: { prompt: "new", extra: "more" } })];
    expect(requestHead({ systemPrompt: "old", messages, tools: [tool("t")] })).toMatchObject({
      systemPrompt: "new\n\nmore",
      tools: [tool("t")],
    });
  });

  it("B8 without system messages nothing is copied", () => {
    const context = { systemPrompt: "p", messages: [user], tools: [tool("t")] };
    const head = requestHead(context);
    expect(head.messages).toBe(context.messages);
    expect(head.tools).toBe(context.tools);
  });

  it("B8 later messages stay in the middle where the API takes them", () => {
    const late = system({
      content: "Note.",
      sections: { a: "A2", b: null },
      toolsAdded: [tool("x")],
      toolsRemoved: [{ name: "t" }],
    });
    const messages = [system({ sections: { a: "A1", b: "B" } }), user, late, user];
    const head = requestHead({ messages, tools: [tool("t")] }, { midConversation: true });
    expect(head.systemPrompt).toBe("A1\n\nB");
    expect(head.messages).toEqual([user, late, user]);
    expect(head.tools).toEqual([tool("x")]);
    expect(systemChangeText(late)).toBe(
      [
        ...[
          "Note.",
          'The section "a" of the system prompt is now:\nA2',
          'The section "b" of the system prompt no longer applies.',
        ],
        ...["These tools are gone: t.", "These tools are new or changed: x."],
      ].join("\n\n"),
    );
    expect(systemChangeText(system({}))).toBe("");
  });

  it("B8 the head does not change while no system message is added", () => {
    const patch = fc.dictionary(fc.constantFrom("a", "b", "c"), fc.option(fc.string({ maxLength: 3 })));
    const names = fc.array(fc.constantFrom("r", "s", "t"), { maxLength: 2 });
    const change = fc.record({ sections: patch, added: names, removed: names }).map(({ sections, added, removed }) =>
      system({
        sections,
        toolsAdded: added.map((name) => tool(name)),
        toolsRemoved: removed.map((name) => ({ name })),
      }),
    );
    fc.assert(
      fc.property(fc.array(fc.oneof(change, fc.constant(user))), fc.nat(5), (messages, more) => {
        const first = requestHead({ systemPrompt: "p", messages });
        const later = requestHead({
          systemPrompt: "p",
          messages: structuredClone([...messages, ...Array(more).fill(user)]),
        });
        expect(JSON.stringify([later.systemPrompt, later.tools])).toBe(
          JSON.stringify([first.systemPrompt, first.tools]),
        );
      }),
    );
  });
});
