import { getEventListeners } from "node:events";
import { reply, toolCall } from "@tau/llm/testing";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { COMMANDS } from "../commands/table.ts";
import { cleanUpAfterEach, tool } from "../session/__fixtures__/harness.ts";
import { endServersAfterEach, startRpc } from "./__fixtures__/rpc-harness.ts";

cleanUpAfterEach();
endServersAfterEach();

const ODD = "a\u2028b\u2029c\u0085d\re\0f\tg\\u2028 \ud800";

describe("the lines of a server", () => {
  it("R174 are split by LF alone, in and out, whatever a tool or a user says", async () => {
    const odd = { ...tool("odd", () => ODD) };
    const { client, script, records, written, raw, seen } = await startRpc([reply(toolCall("odd")), reply(ODD)], {
      tools: [odd],
    });
    const line = JSON.stringify({ id: "1", type: "prompt", message: ODD });
    // With the separators as they are, with CRLF, and cut inside of a character.
    const bytes = Buffer.from(`${line}\r\n`);
    raw(bytes.subarray(0, bytes.indexOf(0x80)));
    raw(bytes.subarray(bytes.indexOf(0x80)));
    await seen("agent_settled");
    expect(written()).not.toMatch(/[\u2028\u2029\u0085\r\0]/);
    expect(written().endsWith("\n")).toBe(true);
    const texts = records().filter(({ type }) => type === "message_end");
    expect(texts.map(({ message }) => message.content.at?.(0).text ?? message.content)).toEqual([
      ODD,
      expect.anything(),
      ODD,
      ODD,
    ]);
    expect(script.calls[0]?.context.messages.at(-1)?.content).toEqual([{ type: "text", text: ODD }]);
    expect(await client.send("get_last_assistant_text")).toEqual({ text: ODD });
  });

  it("R174 a line that holds no command gets an error response, and the next one is served", async () => {
    const { client, raw, records } = await startRpc([]);
    const bad = [
      "{",
      "[1]",
      "null",
      '"x"',
      '{"id":"a"}',
      '{"id":"b","type":7}',
      '{"id":{},"type":"get_state"}',
      "\u{feff}x",
    ];
    raw(`${bad.join("\n")}\n\n  \r\n`);
    raw('{"id":"c","type":"toString"}\n{"id":5,"type":"__proto__"}\n{"type":"extension_ui_response","id":"x"}\n');
    await client.send("get_state");
    const answers = records().slice(0, -1);
    expect(answers.map(({ id, command }) => [id, command])).toEqual([
      ...[undefined, undefined, undefined, undefined, "a", "b", undefined, undefined].map((id) => [id, "parse"]),
      ["c", "toString"],
      [5, "__proto__"],
    ]);
    for (const answer of answers) {
      expect(answer).toMatchObject({ type: "response", success: false, error: expect.stringMatching(/\S/) });
    }
  });

  it.each(Object.entries(COMMANDS))(
    "%s names the field that is missing or of another type",
    async (type, { fields }) => {
      const { client, raw, records } = await startRpc([]);
      const names = Object.entries(fields);
      for (const [name, field] of names) {
        const others = Object.fromEntries(names.map(([other, { expected }]) => [other, valueFor(expected)]));
        raw(`${JSON.stringify({ ...others, id: name, type, [name]: { no: "such type" } })}\n`);
        if (!field.optional) raw(`${JSON.stringify({ ...others, id: name, type, [name]: undefined })}\n`);
      }
      await client.send("get_state");
      const answers = records().filter(({ id }) => names.some(([name]) => name === id));
      expect(answers.length).toBeGreaterThanOrEqual(names.length);
      for (const { id, success, error } of answers) {
        expect([success, error]).toEqual([
          false,
          `"${id}" must be ${names.find(([name]) => name === id)?.[1].expected}`,
        ]);
      }
    },
  );

  it("R174 R184 any lines at all: each is answered once, each accepted prompt settles, and the server lives", async () => {
    const record = fc.record(
      {
        type: fc.constantFrom(...Object.keys(COMMANDS).filter((type) => type !== "bash"), "zzz"),
        message: fc.oneof(fc.string(), fc.constant(7)),
        streamingBehavior: fc.constantFrom("steer", "followUp", "x"),
        name: fc.string(),
        level: fc.constantFrom("low", "none"),
        enabled: fc.boolean(),
        mode: fc.constantFrom("all", "one-at-a-time"),
        entryId: fc.string(),
        sessionPath: fc.constantFrom("/nowhere/x.jsonl", "\0"),
      },
      { requiredKeys: ["type"] },
    );
    const lines = fc.array(fc.oneof({ weight: 5, arbitrary: record }, fc.jsonValue(), fc.constant("not json")), {
      maxLength: 25,
    });
    await fc.assert(
      fc.asyncProperty(lines, async (sent) => {
        const { client, raw, records, end } = await startRpc(() => reply("ok"), { inMemory: true });
        sent.forEach((value, index) => {
          const isCommand = typeof value === "object" && value !== null && !Array.isArray(value);
          raw(`${isCommand ? JSON.stringify({ ...value, id: `n${index}` }) : value}\n`);
        });
        await client.send("get_state");
        await end();
        const all = records();
        const ids = all.filter(({ type, id }) => type === "response" && id !== undefined).map(({ id }) => id);
        expect(new Set(ids).size).toBe(ids.length);
        const starts = all.filter(({ data }) => data?.disposition === "started").length;
        expect(all.filter(({ type }) => type === "agent_settled").length).toBeGreaterThanOrEqual(starts);
        const commands = sent.filter((value) => typeof value === "object" && value !== null && !Array.isArray(value));
        expect(ids).toHaveLength(commands.length + 1);
      }),
      { numRuns: 60 },
    );
  });

  it("the response stands before the events of the command that caused them", async () => {
    const { client, records, seen } = await startRpc([reply("hi")]);
    await client.send("prompt", { message: "x" });
    await seen("agent_settled");
    expect(records()[0]).toMatchObject({ type: "response", command: "prompt", data: { disposition: "started" } });
    expect(records().filter(({ type }) => type === "response")).toHaveLength(1);
  });

  it("R176 the cumulative message is not on the wire", async () => {
    const { client, records, seen } = await startRpc([{ ...reply("abcdef"), chunkSize: 1 }]);
    await client.send("prompt", { message: "x" });
    await seen("agent_settled");
    const updates = records().filter(({ type }) => type === "message_update");
    expect(updates.map(({ assistantMessageEvent }) => assistantMessageEvent.delta ?? "").join("")).toBe("abcdef");
    for (const update of updates) expect(Object.keys(update)).toEqual(["type", "usage", "assistantMessageEvent"]);
    expect(updates.some(({ assistantMessageEvent }) => "partial" in assistantMessageEvent)).toBe(false);
  });

  it("a signal ends the servers that it was given to, and one that has ended does not listen to it any more", async () => {
    const controller = new AbortController();
    const { signal } = controller;
    const [one, two] = [await startRpc([], { signal }), await startRpc([], { signal })];
    expect(getEventListeners(signal, "abort")).toHaveLength(2);
    await one.end();
    expect(getEventListeners(signal, "abort")).toHaveLength(1);
    await two.client.send("get_state");
    controller.abort();
    await two.served;
    expect(two.sessions.current.session.state.isStreaming).toBe(false);
  });

  it("says hello, and what it can do", async () => {
    const { client } = await startRpc([]);
    expect(await client.send("hello", { protocolVersion: 1, capabilities: [] })).toEqual({
      protocolVersion: 1,
      name: "tau",
      version: "1.2.3",
      capabilities: expect.arrayContaining(["permission"]),
    });
  });
});

/** A right value for a field, by what it has to be. */
function valueFor(expected: string): unknown {
  if (expected.startsWith("one of ")) return JSON.parse(expected.slice("one of ".length).split(", ")[0] ?? "");
  if (expected.startsWith("a list")) return [];
  return expected === "true or false" ? true : expected === "a number" ? 1 : "x";
}
