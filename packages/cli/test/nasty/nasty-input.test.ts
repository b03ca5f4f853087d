import { describe, expect, it } from "vitest";
import { ENTRIES, NASTY, NASTY_FOR_PROCESSES, PROCESS_ENTRIES } from "./entries.ts";
import { workProblem } from "./work.ts";

const shown = (pieces: readonly string[]) => pieces.map((piece): [string, string] => [JSON.stringify(piece), piece]);

describe.each(Object.entries(ENTRIES))("R304 a megabyte of anything costs linear work: %s", (_name, entry) => {
  it.each(shown(NASTY))("%s", async (_shown, piece) => {
    expect(await workProblem(piece, entry)).toBeUndefined();
  });
});

describe.each(Object.entries(PROCESS_ENTRIES))(
  "R304 a megabyte for a process costs linear work: %s",
  (_name, entry) => {
    it.each(shown(NASTY_FOR_PROCESSES))("%s", async (_shown, piece) => {
      expect(await workProblem(piece, entry)).toBeUndefined();
    });
  },
);

it("R304 a quadratic cost is seen long before a megabyte", async () => {
  // regexp: it is the fault that has to be seen.
  expect(await workProblem("\n", (text) => /\n+$/.test(`${text}x`))).toMatch(/^\d{4,6} characters cost/);
});
