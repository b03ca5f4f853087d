import fc from "fast-check";
import { expect, it } from "vitest";
import { BoundedRecords } from "./bounded-records.ts";

it("splits at the separator whatever the chunks are, and cuts long records", () => {
  const text = fc.string({ unit: fc.constantFrom("a", "b", "\n"), maxLength: 40 });
  fc.assert(
    fc.property(text, fc.array(fc.nat(8)), fc.integer({ min: 1, max: 6 }), (all, sizes, maxBytes) => {
      const seen: [string, boolean][] = [];
      const records = new BoundedRecords({ separator: 10, maxBytes }, (record, cut) =>
        seen.push([record.toString(), cut]),
      );
      let at = 0;
      for (const size of [...sizes, all.length]) {
        records.push(Buffer.from(all.slice(at, at + size)));
        at += size;
      }
      records.end();
      const expected = all.split("\n");
      if (expected.at(-1) === "") expected.pop();
      expect(seen).toEqual(expected.map((record) => [record.slice(0, maxBytes), record.length > maxBytes]));
    }),
  );
});
