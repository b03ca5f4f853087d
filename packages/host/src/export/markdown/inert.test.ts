import { describe, expect, it } from "vitest";
import { fenced, inertMarkdown, inertSpan } from "./inert.ts";

describe("inertMarkdown", () => {
  it.each([
    ["a **b** `c<d>` e < f", "a **b** `c<d>` e &lt; f"],
    ["<script>x</script>", "&lt;script>x&lt;/script>"],
    ["\\<b>", "\\&lt;b>"],
    ["# Title\n## Part", "### Title\n#### Part"],
    ["###### six", "###### six"],
    ["Title\n===", "Title\n\\==="],
    ["Title\n---", "Title\n\\---"],
    ["a\n\n---", "a\n\n---"],
    ["```html\n<b>\n```\n<b>", "```html\n<b>\n```\n&lt;b>"],
    ["```\n<b>", "```\n<b>\n```"],
    ["~~~~\n```\n<b>\n~~~~", "````\n```\n<b>\n````"],
    ["- a\n\n  ```\n  <b>\n  ```", "- a\n\n```\n<b>\n```"],
    ["[a](https://x.example/b)", "[a](https://x.example/b)"],
    ["[a](docs/b.md)", "[a](docs/b.md)"],
    ["[a](javascript:b)", "[a&#93;(javascript:b)"],
    ["[a](<javascript:b>)", "[a&#93;(&lt;javascript:b>)"],
    ["[a](java&#115;cript:b)", "[a&#93;(java&#115;cript:b)"],
    ["[a]: javascript:b", "[a&#93;: javascript:b"],
    ["![a](https://x.example/p.png)", "&#33;[a](https://x.example/p.png)"],
  ])("turns %j into %j", (text, inert) => {
    expect(inertMarkdown(text)).toBe(inert);
  });

  it.each(["`x <b> ``", "`\n` <b> `", "\\`<b>\\`", "| `a | <b> ` |", "    ```\n<b>", "``` `\n<b>"])(
    "R182 takes %j for no code: another reader may not",
    (text) => {
      expect(inertMarkdown(text)).not.toContain("<b>");
    },
  );

  it("stays linear on many backticks", () => {
    expect(inertMarkdown("`` ` ".repeat(50_000)).length).toBeGreaterThan(0);
    expect(inertMarkdown("` ``` ```` ".repeat(50_000)).length).toBeGreaterThan(0);
  });
});

it("a fence is longer than any in its text", () => {
  expect(fenced("a")).toBe("```\na\n```");
  expect(fenced("````\nx\n````\n", "md")).toBe("`````md\n````\nx\n````\n`````");
});

it("a span is one line without marks", () => {
  expect(inertSpan(" a\n<b> *c* [d](e) ![f] ")).toBe("a &#60;b&#62; &#42;c&#42; &#91;d&#93;(e) &#33;&#91;f&#93;");
});
