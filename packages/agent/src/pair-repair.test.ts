import type { Message, ToolCall } from "@tau/llm";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { after, assistant, countWork, outline, pairingFaults, textOf, user } from "./__fixtures__/kit.ts";
import { PairRepair } from "./pair-repair.ts";

const call = (id: string, name = "a"): ToolCall => ({ type: "toolCall", id, name, arguments: {} });
const answer = (id: string, text = id): Message => ({
  role: "toolResult",
  toolCallId: id,
  toolName: "a",
  content: [{ type: "text", text }],
  isError: false,
  timestamp: 1,
});
const repair = (messages: Message[]) => new PairRepair().repair(messages);

const anyMessage: fc.Arbitrary<Message> = fc.oneof(
  fc.string().map(user),
  fc.constantFrom("x", "y", "z", "").map((id) => answer(id)),
  fc.array(fc.constantFrom("x", "y", "z", ""), { maxLength: 3 }).map((ids) => assistant(ids.map((id) => call(id)))),
  fc.constant(assistant([{ type: "text", text: "said" }])),
  fc.constant(assistant([{ type: "thinking", thinking: "hm" }])),
);

describe("repair", () => {
  it("B5 missing results are put in, orphans and repeated results left out, late ones moved to their call", () => {
    const messages = [
      answer("lost"),
      user("hi"),
      assistant([call("c1"), call("c2"), call("c3")]),
      answer("c2"),
      user("more"),
      answer("c1"),
      answer("c2", "again"),
      user("end"),
    ];
    const fixed = repair(messages);
    expect(pairingFaults(fixed)).toEqual([]);
    expect(fixed.map(textOf)).toEqual(["hi", "", "c1", "c2", expect.stringMatching(/no result/), "more", "end"]);
  });

  it("B5 an id that is used again is renamed together with its result", () => {
    const messages = [
      assistant([call("x")]),
      answer("x", "first"),
      assistant([call("x"), call("x")]),
      answer("x", "second"),
      answer("x", "third"),
    ];
    const fixed = repair(messages);
    expect(pairingFaults(fixed)).toEqual([]);
    expect(fixed.filter(({ role }) => role === "toolResult").map(textOf)).toEqual(["first", "second", "third"]);
    expect(outline(messages)).toHaveLength(5);
  });

  it("B5 replies with nothing to send are left out, broken calls are made sendable", () => {
    const odd = { ...call("c1", ""), arguments: null as never };
    const fixed = repair([
      user("hi"),
      assistant([]),
      assistant([{ type: "thinking", thinking: "x" }]),
      assistant([odd]),
    ]);
    expect(fixed).toHaveLength(3);
    expect(fixed[1]).toMatchObject({ content: [{ name: "unnamed", arguments: {} }] });
  });

  it("B5 whatever the transcript, the request is paired; what was sound is passed on as the same objects", () => {
    fc.assert(
      fc.property(fc.array(anyMessage, { maxLength: 14 }), (messages) => {
        const fixed = repair(messages);
        expect(pairingFaults(fixed)).toEqual([]);
        const users = (list: readonly Message[]) => list.filter(({ role }) => role === "user");
        expect(users(fixed)).toEqual(users(messages));
        if (pairingFaults(messages).length === 0) for (const message of fixed) expect(messages).toContain(message);
      }),
      { numRuns: 300 },
    );
  });

  it("O1 repairing a growing transcript gives what repairing it whole gives", () => {
    fc.assert(
      fc.property(fc.array(anyMessage, { maxLength: 14 }), fc.array(fc.nat(13), { maxLength: 4 }), (messages, cuts) => {
        const growing = new PairRepair();
        for (const cut of [...cuts].sort((one, other) => one - other)) growing.repair(messages.slice(0, cut));
        const once = growing.repair(messages);
        expect(once).toEqual(repair(messages));
        expect(growing.repair(messages)).not.toBe(once);
      }),
      { numRuns: 300 },
    );
  });

  it("O1 repair is linear in the messages, and what was repaired is not looked at again", async () => {
    let reads = 0;
    const watched = (message: Message): Message => {
      const { role } = message;
      return Object.defineProperty(message, "role", { get: () => after(reads++, role), enumerable: true }) as Message;
    };
    const transcript = (count: number) =>
      Array.from({ length: count }, (_, index) => [
        assistant([call(`c${index}`), call("same")]),
        answer(`c${index}`),
        answer("same"),
      ])
        .flat()
        .map(watched);
    const work = async (count: number) => {
      const messages = transcript(count);
      return countWork(() => repair(messages));
    };
    expect((await work(4000)) / (await work(400))).toBeLessThan(15);
    const growing = new PairRepair();
    const messages = transcript(1000);
    growing.repair(messages);
    reads = 0;
    growing.repair([...messages, ...transcript(1)]);
    expect(reads).toBeLessThan(30);
  });
});
