import { setImmediate as nextTurn } from "node:timers/promises";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { EventStream } from "./event-stream.ts";

async function collect<Event>(stream: AsyncIterable<Event>): Promise<Event[]> {
  const events: Event[] = [];
  for await (const event of stream) events.push(event);
  return events;
}

describe("EventStream", () => {
  it("gives the events in order and the result", async () => {
    const stream = new EventStream<number, string>();
    stream.push(1);
    const all = collect(stream);
    stream.push(2);
    stream.end("done");
    stream.push(3);
    expect(await all).toEqual([1, 2]);
    expect(await stream.result()).toBe("done");
  });

  it("S4 no reader hangs: end and fail settle those who wait and those who come later", async () => {
    const ended = new EventStream<number, string>();
    const waiting = [collect(ended), collect(ended)];
    ended.end();
    expect(await Promise.all(waiting)).toEqual([[], []]);
    expect(await collect(ended)).toEqual([]);
    await expect(ended.result()).rejects.toThrow("without a result");

    const failed = new EventStream<number, string>();
    const reading = collect(failed);
    const result = failed.result();
    failed.fail(new Error("broken"));
    await expect(reading).rejects.toThrow("broken");
    await expect(result).rejects.toThrow("broken");
    await expect(collect(failed)).rejects.toThrow("broken");
  });

  it("gives the unread events before the error of a failure", async () => {
    const stream = new EventStream<number, string>();
    stream.push(1);
    stream.fail(new Error("broken"));
    const iterator = stream[Symbol.asyncIterator]();
    expect(await iterator.next()).toEqual({ done: false, value: 1 });
    await expect(iterator.next()).rejects.toThrow("broken");
  });

  it("a failure that nobody asks about is not an unhandled rejection", async () => {
    const unhandled: unknown[] = [];
    const note = (error: unknown) => unhandled.push(error);
    process.on("unhandledRejection", note);
    new EventStream<number, string>().fail(new Error("broken"));
    await nextTurn();
    process.off("unhandledRejection", note);
    expect(unhandled).toEqual([]);
  });

  it("S6 a slow reader meets merged events: the backlog is bounded and nothing is lost", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ block: fc.nat(1), text: fc.string({ maxLength: 3 }) }), { maxLength: 300 }),
        fc.integer({ min: 1, max: 20 }),
        async (deltas, mergeAfter) => {
          const stream = new EventStream<{ block: number; text: string }, string>({
            mergeAfter,
            merge: (a, b) => (a.block === b.block ? { block: a.block, text: a.text + b.text } : undefined),
          });
          for (const delta of deltas) stream.push(delta);
          const switches = deltas.filter((delta, at) => at > 0 && deltas[at - 1]?.block !== delta.block).length;
          expect(stream.backlog).toBeLessThanOrEqual(mergeAfter + switches + 1);
          stream.end("done");
          const read = await collect(stream);
          for (const block of [0, 1]) {
            const textOf = (events: typeof deltas) =>
              events.map((event) => (event.block === block ? event.text : "")).join("");
            expect(textOf(read)).toBe(textOf(deltas));
          }
        },
      ),
    );
  });

  it("S6 an abort overtakes what waits: discarded events are not met any more", async () => {
    const stream = new EventStream<string, string>();
    for (const event of ["start", "delta", "delta", "end"]) stream.push(event);
    stream.discard((event) => event === "delta");
    stream.push("error");
    stream.end("aborted");
    expect(await collect(stream)).toEqual(["start", "end", "error"]);
  });

  it("leaving an iterator early leaves the rest to the next one", async () => {
    const stream = new EventStream<number, string>();
    for (const event of [1, 2, 3]) stream.push(event);
    stream.end("done");
    for await (const event of stream) if (event === 1) break;
    expect(await collect(stream)).toEqual([2, 3]);
  });
});
