import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { AssistantMessageEvent } from "../protocol/events.ts";
import type { AssistantMessage } from "../protocol/message.ts";
import type { Model } from "../protocol/model.ts";
import { AssistantAssembler, createAssistantStream, emptyAssistantMessage } from "./assembler.ts";
import { foldWireEvent } from "./fold.ts";
import { JsonReader } from "./json-reader.ts";

const MODEL: Model = {
  id: "m",
  name: "M",
  api: "openai-completions",
  provider: "test",
  baseUrl: "http://127.0.0.1:1/v1",
  reasoning: true,
  input: ["text"],
  cost: { input: 1, output: 2, cacheRead: 0.1, cacheWrite: 0 },
  contextWindow: 100_000,
  maxTokens: 1000,
};

function assemble(write: (assembler: AssistantAssembler) => void) {
  const stream = createAssistantStream();
  write(new AssistantAssembler(MODEL, stream));
  return stream;
}

async function eventsOf(write: (assembler: AssistantAssembler) => void): Promise<AssistantMessageEvent[]> {
  const events: AssistantMessageEvent[] = [];
  for await (const event of assemble(write)) events.push(event);
  return events;
}

/** A random answer: blocks that open, grow and end in any interleaving. */
type Operation = { kind: "text" | "thinking" | "toolCall"; block: number; piece: string } | { end: number };

const operations = fc.array(
  fc.oneof(
    fc.record({
      kind: fc.constantFrom("text" as const, "thinking" as const, "toolCall" as const),
      block: fc.nat(5),
      piece: fc.constantFrom("a", '{"x":', '"y"', "1}", "é", " "),
    }),
    fc.record({ end: fc.nat(5) }),
  ),
  { maxLength: 60 },
);

type OpenBlocks = Map<number, { kind: string; index: number }>;

function perform(assembler: AssistantAssembler, list: readonly Operation[], open: OpenBlocks = new Map()): void {
  for (const operation of list) {
    if ("end" in operation) {
      const block = open.get(operation.end);
      if (block) assembler.closeBlock(block.index);
      open.delete(operation.end);
      continue;
    }
    const { kind, block: name, piece } = operation;
    const block = open.get(name) ?? { kind, index: openBlock(assembler, kind, name) };
    open.set(name, block);
    if (block.kind === "text") assembler.textDelta(block.index, piece);
    else if (block.kind === "thinking") assembler.thinkingDelta(block.index, piece);
    else assembler.argumentsDelta(block.index, piece);
  }
}

function openBlock(assembler: AssistantAssembler, kind: string, name: number): number {
  if (kind === "text") return assembler.openText();
  return kind === "thinking" ? assembler.openThinking() : assembler.openToolCall({ id: `c${name}`, name: "read" });
}

const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

describe("AssistantAssembler", () => {
  it("S1 every block has its start, deltas and end with one index, and the answer one start and one end", async () => {
    await fc.assert(
      fc.asyncProperty(operations, async (list) => {
        const events = await eventsOf((assembler) => {
          perform(assembler, list);
          assembler.finish("stop");
        });
        expect(events[0]?.type).toBe("start");
        expect(events.at(-1)?.type).toBe("done");
        expect(events.filter(({ type }) => type === "start" || type === "done")).toHaveLength(2);
        const open = new Map<number, string>();
        for (const event of events) {
          if (!("contentIndex" in event)) continue;
          const [kind, step] = event.type.split("_");
          if (step === "start") {
            expect(open.has(event.contentIndex)).toBe(false);
            open.set(event.contentIndex, kind ?? "");
          } else {
            expect(open.get(event.contentIndex)).toBe(kind);
          }
          if (step === "end") open.set(event.contentIndex, "ended");
        }
        expect([...open.values()].every((state) => state === "ended")).toBe(true);
      }),
    );
  });

  it("S1 toolcall_start has id and name, toolcall_end the whole call", async () => {
    const events = await eventsOf((assembler) => {
      const index = assembler.openToolCall({ id: "c1", name: "read" });
      assembler.argumentsDelta(index, '{"path":');
      assembler.argumentsDelta(index, '"a"}');
      assembler.finish("toolUse");
    });
    expect(events.map(({ type }) => type)).toEqual([
      "start",
      "toolcall_start",
      "toolcall_delta",
      "toolcall_delta",
      "toolcall_end",
      "done",
    ]);
    expect(events[1]).toMatchObject({ id: "c1", name: "read", contentIndex: 0 });
    expect(events[4]).toMatchObject({
      toolCall: { type: "toolCall", id: "c1", name: "read", arguments: { path: "a" } },
    });
  });

  it("S5 recorded events never change later", async () => {
    await fc.assert(
      fc.asyncProperty(operations, async (list) => {
        const stream = createAssistantStream();
        const assembler = new AssistantAssembler(MODEL, stream);
        const seen: { event: AssistantMessageEvent; text: string }[] = [];
        const reading = (async () => {
          for await (const event of stream) seen.push({ event, text: JSON.stringify(event) });
        })();
        const open: OpenBlocks = new Map();
        for (const operation of list) {
          perform(assembler, [operation], open);
          await Promise.resolve();
        }
        assembler.finish("stop");
        await reading;
        for (const { event, text } of seen) expect(JSON.stringify(event)).toBe(text);
      }),
    );
  });

  it("S5 the work is linear in the bytes, also for a reader who looks at the arguments of every partial", async () => {
    const work = async (bytes: number) => {
      let characters = 0;
      const feed = JsonReader.prototype.feed;
      JsonReader.prototype.feed = function counted(piece) {
        characters += piece.length;
        feed.call(this, piece);
      };
      const stream = createAssistantStream();
      const assembler = new AssistantAssembler(MODEL, stream);
      const text = JSON.stringify({ path: "a", content: "x".repeat(bytes) });
      const index = assembler.openToolCall({ id: "c1", name: "write" });
      const reader = stream[Symbol.asyncIterator]();
      // The reader is always some events behind, as one is who gets them in bursts.
      for (let at = 0; at < text.length; ) {
        for (let burst = 0; burst < 40; burst += 1, at += 4) assembler.argumentsDelta(index, text.slice(at, at + 4));
        while (stream.backlog > 10) {
          const { value } = await reader.next();
          if (value && "partial" in value) lookAt(value.partial);
        }
      }
      JsonReader.prototype.feed = feed;
      return characters;
    };
    const [once, twice] = [await work(50_000), await work(100_000)];
    expect(once).toBeLessThan(2 * 50_100);
    expect(twice / once).toBeLessThan(2.1);
  });

  it("S5 a delta copies nothing but its own block: all others are shared with the partial before", async () => {
    const events = await eventsOf((assembler) => {
      const first = assembler.openText();
      assembler.textDelta(first, "a");
      const second = assembler.openToolCall({ id: "c", name: "n" });
      assembler.argumentsDelta(second, "{");
      assembler.textDelta(first, "b");
      assembler.finish("stop");
    });
    const partials = events.flatMap((event) => ("partial" in event ? [event.partial] : []));
    const [, , , opened, grown, text] = partials;
    expect(grown?.content[0]).toBe(opened?.content[0]);
    expect(grown?.content[1]).not.toBe(opened?.content[1]);
    expect(text?.content[1]).toBe(grown?.content[1]);
  });

  it("shows the arguments so far in each partial, and lazily: nothing is parsed for who does not look", async () => {
    let parsed = 0;
    const feed = JsonReader.prototype.feed;
    JsonReader.prototype.feed = function counted(piece) {
      parsed += 1;
      feed.call(this, piece);
    };
    const events = await eventsOf((assembler) => {
      const index = assembler.openToolCall({ id: "c1", name: "write" });
      for (const piece of ['{"path":"a.', 'txt","content":"one ', 'two"}']) assembler.argumentsDelta(index, piece);
      assembler.finish("stop");
    });
    expect(parsed).toBe(0);
    JsonReader.prototype.feed = feed;
    const seen = events.flatMap((event) => (event.type === "toolcall_delta" ? [argumentsOf(event.partial)] : []));
    expect(seen).toEqual([{ path: "a." }, { path: "a.txt", content: "one " }, { path: "a.txt", content: "one two" }]);
  });

  it("S4 a failure keeps what had arrived and ends the open blocks", async () => {
    const stream = assemble((assembler) => {
      assembler.textDelta(assembler.openText(), "half");
      assembler.argumentsDelta(assembler.openToolCall({ id: "c1", name: "write" }), '{"path":');
      assembler.fail({ kind: "retryable", message: "cut", details: { status: 503 } });
      assembler.fail({ kind: "unknown", message: "later" });
    });
    expect(await stream.result()).toMatchObject({
      stopReason: "error",
      errorMessage: "cut",
      errorKind: "retryable",
      errorDetails: { status: 503 },
      content: [
        { type: "text", text: "half" },
        { type: "toolCall", arguments: {}, invalidArguments: { raw: '{"path":' } },
      ],
    });
  });

  it("S4 a failure before anything came is a message all the same", async () => {
    const events = await eventsOf((assembler) => assembler.fail({ kind: "auth", message: "no key" }));
    expect(events.map(({ type }) => type)).toEqual(["start", "error"]);
  });

  it("S6 an abort overtakes the deltas that wait", async () => {
    const events = await eventsOf((assembler) => {
      const index = assembler.openText();
      for (let i = 0; i < 50; i += 1) assembler.textDelta(index, "x");
      assembler.fail({ kind: "aborted", message: "Request aborted" });
    });
    expect(events.map(({ type }) => type)).toEqual(["start", "text_start", "text_end", "error"]);
    expect(events.at(-1)).toMatchObject({ reason: "aborted", error: { content: [{ text: "x".repeat(50) }] } });
  });

  it("S6 a reader who is behind meets few events with the same text", async () => {
    const events = await eventsOf((assembler) => {
      const index = assembler.openText();
      for (let i = 0; i < 10_000; i += 1) assembler.textDelta(index, `${i} `);
      assembler.finish("stop");
    });
    expect(events.length).toBeLessThan(80);
    const text = events.map((event) => (event.type === "text_delta" ? event.delta : "")).join("");
    expect(text).toBe(Array.from({ length: 10_000 }, (_, i) => `${i} `).join(""));
  });

  it("C1 a stop with calls is toolUse, a length stays a length", async () => {
    const withCall = (reason: "stop" | "length") =>
      assemble((assembler) => {
        assembler.openToolCall({ id: "c1", name: "read" });
        assembler.finish(reason);
      }).result();
    expect((await withCall("stop")).stopReason).toBe("toolUse");
    expect((await withCall("length")).stopReason).toBe("length");
  });

  it("prices the usage by the model", async () => {
    const message = await assemble((assembler) => {
      assembler.setUsage({ input: 1000, output: 500, cacheRead: 9000, cacheWrite: 0 });
      assembler.finish("stop");
    }).result();
    expect(message.usage.totalTokens).toBe(10_500);
    expect(message.usage.cost.total).toBeCloseTo(0.0029, 10);
  });
});

describe("foldWireEvent", () => {
  it("gives at each event the partial that the event had", async () => {
    await fc.assert(
      fc.asyncProperty(operations, async (list) => {
        const events = await eventsOf((assembler) => {
          perform(assembler, list);
          assembler.finish("stop");
        });
        let message = emptyAssistantMessage(MODEL);
        for (const event of events) {
          const { partial, ...wire } = { partial: undefined, ...event };
          const before = JSON.stringify(message);
          const next = foldWireEvent(message, plain(wire) as AssistantMessageEvent);
          expect(JSON.stringify(message)).toBe(before);
          if (partial) expect(plain(next.content)).toEqual(plain(partial.content));
          message = next;
        }
        expect(message.stopReason).not.toBe("error");
      }),
    );
  });

  it("is pure: two continuations of one message do not meet", () => {
    const start = foldWireEvent(emptyAssistantMessage(MODEL), {
      type: "toolcall_start",
      contentIndex: 0,
      id: "c",
      name: "n",
    });
    const delta = (text: string) => ({ type: "toolcall_delta" as const, contentIndex: 0, delta: text });
    const base = foldWireEvent(start, delta('{"a":'));
    const left = foldWireEvent(base, delta("1}"));
    const right = foldWireEvent(base, delta("2}"));
    expect([left, right].map(argumentsOf)).toEqual([{ a: 1 }, { a: 2 }]);
  });

  it("S2 deltas without a start open their block", () => {
    const message = foldWireEvent(emptyAssistantMessage(MODEL), { type: "text_delta", contentIndex: 1, delta: "late" });
    expect(message.content[1]).toEqual({ type: "text", text: "late" });
  });
});

function argumentsOf(message: AssistantMessage): unknown {
  const block = message.content[0];
  return block?.type === "toolCall" ? plain(block.arguments) : undefined;
}

function lookAt(message: AssistantMessage): unknown {
  const block = message.content[0];
  return block?.type === "toolCall" ? block.arguments : undefined;
}
