import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { terminalPicture } from "./terminal-picture.mjs";

const rowsOf = (picture) =>
  [...picture.matchAll(/<text([^>]*)>([^<]*)<\/text>/g)].slice(1).map(([, at, text]) => [at, text]);

it("shows each line as text, escaped, with the width that it has in a terminal", () => {
  const rows = rowsOf(terminalPicture('a < "b" & c\n\n  indented', { title: "t" }));
  expect(rows.map(([, text]) => text)).toEqual(["a &lt; &quot;b&quot; &amp; c", "indented"]);
  expect(rows[0]?.[0]).toContain('textLength="92.4"');
  expect(rows[1]?.[0]).toContain('x="36.8"');
});

it("wraps long lines between words and keeps their kind", () => {
  const rows = rowsOf(terminalPicture(`> ${"word ".repeat(30)}`, { title: "t" }));
  expect(rows).toHaveLength(2);
  for (const [attributes, text] of rows) {
    expect(attributes).toContain('class="prompt"');
    expect(text.length).toBeLessThanOrEqual(100);
  }
});

it("loads nothing from elsewhere", () => {
  expect(terminalPicture("text", { title: "t" })).not.toMatch(/<script|<image|@import|url\(|href/);
});

it("the picture in the README is of the demo as it is", () => {
  const picture = readFileSync(new URL("../../docs/images/demo.svg", import.meta.url), "utf8");
  const demo = readFileSync(new URL("../../packages/llm/src/scripted/demo.ts", import.meta.url), "utf8");
  const prompt = /DEMO_PROMPT = "([^"]+)"/.exec(demo)?.[1];
  const shown = rowsOf(picture)
    .map(([, text]) => text)
    .join(" ");
  expect(prompt && shown.includes(prompt), "run `npm run picture` and commit docs/images/demo.svg").toBe(true);
});
