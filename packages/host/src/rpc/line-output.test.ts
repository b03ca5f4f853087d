import { Writable } from "node:stream";
import { describe, expect, it } from "vitest";
import { LineOutput } from "./line-output.ts";

/** A reader that takes nothing before it is told to. */
function slowReader() {
  const taken: string[] = [];
  const waiting: (() => void)[] = [];
  const stream = new Writable({
    write(chunk, _encoding, done) {
      taken.push(String(chunk));
      waiting.push(done);
    },
  });
  return { stream, taken, go: () => waiting.shift()?.() };
}

describe("LineOutput", () => {
  it("R184 flush ends when a few lines have left, although they never filled the buffer", async () => {
    const { stream, taken, go } = slowReader();
    const output = new LineOutput(stream);
    expect([output.write("a\n"), output.write("b\n")]).toEqual([undefined, undefined]);
    const flushed = output.flush().then(() => taken.join(""));
    for (let turn = 0; turn < 4; turn++) await new Promise<void>((resolve) => setImmediate(() => resolve(go())));
    expect(await Promise.race([flushed, new Promise((resolve) => setImmediate(resolve, "still waiting"))])).toBe(
      "a\nb\n",
    );
  });

  it("R160 flush ends when the reader has gone", async () => {
    const { stream } = slowReader();
    const output = new LineOutput(stream);
    output.write("a\n");
    const flushed = output.flush();
    stream.destroy(Object.assign(new Error("gone"), { code: "EPIPE" }));
    await flushed;
    expect([output.closed, output.failure]).toEqual([true, undefined]);
  });
});
