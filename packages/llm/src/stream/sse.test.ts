import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseFrame, readSse, type SseFrame } from "./sse.ts";
import { StreamError } from "./stream-error.ts";

async function* bytesOf(text: string | Uint8Array, cuts: readonly number[] = []): AsyncGenerator<Uint8Array> {
  const bytes = typeof text === "string" ? Buffer.from(text) : text;
  const at = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
  for (const [index, end] of at.slice(1).entries()) yield bytes.subarray(at[index], end);
}

async function framesOf(text: string | Uint8Array, cuts: readonly number[] = []): Promise<SseFrame[]> {
  const frames: SseFrame[] = [];
  for await (const some of readSse(bytesOf(text, cuts))) frames.push(...some);
  return frames;
}

const BODY = [
  "\ufeff: a comment\n\n",
  'data: {"text":"h\u00e9llo \ud83d\ude00 \u4e16\u754c"}\n\n',
  "event: ping\r\ndata: one\r\ndata: two\r\n\r\n",
  "id: 7\rdata:no space\r\r",
  "retry: 100\ndata\n\n",
  "event: message_stop\ndata: [DONE]\n\n",
].join("");

const FRAMES = [
  { data: '{"text":"h\u00e9llo \ud83d\ude00 \u4e16\u754c"}' },
  { event: "ping", data: "one\ntwo" },
  { data: "no space" },
  { data: "" },
  { event: "message_stop", data: "[DONE]" },
];

describe("readSse", () => {
  it("reads comments, BOM, all line ends, several data lines, events", async () => {
    expect(await framesOf(BODY)).toEqual(FRAMES);
  });

  it("S1 gives the same frames however the bytes are cut", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(1000), { maxLength: 40 }), async (cuts) => {
        expect(await framesOf(BODY, cuts)).toEqual(FRAMES);
      }),
    );
  });

  it.each(["data: last", "data: last\n", "data: last\r", "data: last\r\n", "data: last\n\n"])(
    "gives a last frame that is not ended: %j",
    async (body) => {
      expect(await framesOf(body)).toEqual([{ data: "last" }]);
    },
  );

  it("S5 one giant frame in tiny pieces is handed on once, and no piece is looked at twice", async () => {
    const giant = `data: ${"x".repeat(400_000)}\n\n`;
    const cuts = Array.from({ length: 100_000 }, (_, index) => index * 4);
    const frames = await framesOf(giant, cuts);
    expect(frames).toHaveLength(1);
    expect(frames[0]?.data).toHaveLength(400_000);
  });

  it("bytes that are not UTF-8 become replacement characters, not an end", async () => {
    const bytes = Buffer.concat([Buffer.from("data: a"), Buffer.from([0xff, 0xc3]), Buffer.from("b\n\n")]);
    expect(await framesOf(bytes)).toEqual([{ data: "a\ufffd\ufffdb" }]);
  });

  it("reads an error that an older llama.cpp writes as a field", async () => {
    expect(await framesOf('data: {"a":1}\n\nerror: {"code":500}\n\n')).toEqual([
      { data: '{"a":1}' },
      { event: "error", data: '{"code":500}' },
    ]);
  });
});

describe("parseFrame", () => {
  it("R021 a damaged frame is a stream error that shows its first characters", () => {
    const cut = `{"choices":[{"delta":{"content":"hel${" ".repeat(500)}`;
    const parse = () => parseFrame(cut);
    expect(parse).toThrow(StreamError);
    expect(parse).toThrow(/damaged frame: \{"choices":\[\{"delta":\{"content":"hel/);
    expect(parseFrame('{"a":1}')).toEqual({ a: 1 });
  });
});
