import { describe, expect, it } from "vitest";
import { effortOf } from "./effort.ts";

describe("effortOf", () => {
  it.each([
    ["high", {}, "high"],
    ["max", {}, "high"],
    ["max", { xhigh: "xhigh" }, "xhigh"],
    ["high", { high: null }, "medium"],
    // Nothing below: the nearest above, and not what the server would do by itself.
    ["minimal", { minimal: null }, "low"],
    ["minimal", { minimal: null, low: null, medium: "mid" }, "mid"],
    ["low", { minimal: null, low: null, medium: null, high: null, max: "most" }, "most"],
    ["low", { minimal: null, low: null, medium: null, high: null }, undefined],
  ] as const)("%s with %j is the nearest level that the model has: %s", (level, map, word) => {
    expect(effortOf(level, map)).toBe(word);
  });
});
