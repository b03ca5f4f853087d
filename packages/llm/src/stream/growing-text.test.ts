import fc from "fast-check";
import { expect, it } from "vitest";
import { GrowingText } from "./growing-text.ts";

it("gives the joined pieces at every step", () => {
  fc.assert(
    fc.property(fc.array(fc.oneof(fc.string(), fc.constant("x".repeat(3000))), { maxLength: 30 }), (pieces) => {
      const text = new GrowingText();
      let joined = "";
      for (const piece of pieces) {
        joined += piece;
        expect(text.append(piece)).toBe(joined);
        expect(text.value).toBe(joined);
      }
    }),
  );
});
