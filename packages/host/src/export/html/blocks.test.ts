import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { HOSTILE } from "../__fixtures__/hostile.ts";
import { tagsOf } from "../__fixtures__/tags.ts";
import { markdownHtml } from "./blocks.ts";

const ALLOWED = new Set(
  "p br hr h3 h4 h5 h6 ul ol li blockquote pre code span em strong del a div table tr th td".split(" "),
);
const LINK = /^ href="(https?:\/\/|mailto:)[^"'<>\s]*" rel="noopener noreferrer nofollow"$/i;
const CLASSES = new Set([' class="code"', ' class="language"', ' class="wide"']);

/** Throws unless the HTML is made of the marks that Markdown may become, and of nothing else. */
function checkInert(html: string): void {
  for (const { name, attributes } of tagsOf(html)) {
    if (!ALLOWED.has(name)) throw new Error(`<${name}>`);
    const fits =
      attributes === "" ||
      CLASSES.has(attributes) ||
      (name === "a" && LINK.test(attributes)) ||
      /^ start="\d+"$/.test(attributes);
    if (!fits) throw new Error(`<${name}${attributes}>`);
  }
}

describe("markdownHtml", () => {
  it.each([
    ["a *b* **c** `d` ~~e~~", "<p>a <em>b</em> <strong>c</strong> <code>d</code> <del>e</del></p>"],
    ["***both***", "<p><strong><em>both</em></strong></p>"],
    ["snake_case_name and 2 * 3 * 4", "<p>snake_case_name and 2 * 3 * 4</p>"],
    ["**open", "<p>**open</p>"],
    ["**a *b** c*", "<p><strong>a *b</strong> c*</p>"],
    ["a\nb", "<p>a<br>\nb</p>"],
    ["``a ` b`` `` ` ``", "<p><code>a ` b</code> <code>`</code></p>"],
    ["\\*no\\* \\`no\\`", "<p>*no* `no`</p>"],
    ["# One\n### Three #", "<h3>One</h3>\n<h5>Three</h5>"],
    ["- a\n- b", "<ul><li>a</li>\n<li>b</li></ul>"],
    ["3. a\n4. b", '<ol start="3"><li>a</li>\n<li>b</li></ol>'],
    ["- a\n  - b\n- c", "<ul><li>a\n<ul><li>b</li></ul></li>\n<li>c</li></ul>"],
    ["> a\n> b", "<blockquote><p>a<br>\nb</p></blockquote>"],
    ["---", "<hr>"],
    ["```ts\na < b\n```\nc", '<pre class="code"><span class="language">ts</span><code>a &lt; b</code></pre>\n<p>c</p>'],
    ["~~~\nno end", '<pre class="code"><code>no end</code></pre>'],
    ["1. a\n\n   ```\n   x\n   ```", '<ol><li>a\n<pre class="code"><code>x</code></pre></li></ol>'],
    [
      "| a | b |\n|---|:-:|\n| 1 | `2` |",
      '<div class="wide"><table><tr><th>a</th><th>b</th></tr>\n<tr><td>1</td><td><code>2</code></td></tr></table></div>',
    ],
    ["<b>&amp;</b>", "<p>&lt;b&gt;&amp;amp;&lt;/b&gt;</p>"],
  ])("reads %j", (text, html) => {
    expect(markdownHtml(text)).toBe(html);
  });

  it.each([
    ['[a](https://x.example/b?c=1&d=2 "t")', "https://x.example/b?c=1&amp;d=2"],
    ["see https://x.example/a_(b).", "https://x.example/a_(b)"],
    ["(http://x.example/a_b)", "http://x.example/a_b"],
    ["[m](mailto:a@b.example)", "mailto:a@b.example"],
    ["[a](<https://x.example>)", "https://x.example"],
  ])("links %j", (text, target) => {
    expect(markdownHtml(text)).toContain(`href="${target}"`);
  });

  it.each([
    "[a](javascript:alert(1))",
    "[a](JAVASCRIPT:x)",
    "[a](java\nscript:x)",
    "[a]( javascript:x)",
    "[a](\u0001javascript:x)",
    "[a](data:text/html,x)",
    "[a](vbscript:x)",
    "[a](file:///etc/passwd)",
    "[a](//x.example)",
    "[a](/etc)",
    "[a](javascript&colon;x)",
    "javascript:alert(1)",
  ])("R182 makes no link of %j", (text) => {
    expect(markdownHtml(text)).not.toContain("href");
  });

  it("R182 an image is never loaded, only named", () => {
    expect(markdownHtml("![cat](https://x.example/cat.png)")).toBe(
      '<p><a href="https://x.example/cat.png" rel="noopener noreferrer nofollow">🖼 cat</a></p>',
    );
  });

  it("R182 whatever the text, only text, links and plain marks come out, and they balance", () => {
    const part = fc.constantFrom(
      ..."*_~`[]()!#>|-+.\\<\"'& \n\t:=0a".split(""),
      ...[
        "**",
        "```",
        "~~~",
        "\n\n",
        "\n- ",
        "\n  ",
        "|---|---|",
        "](",
        "https://",
        "javascript:",
        "1. ",
        "> ",
        "<img src=x>",
      ],
      ...HOSTILE,
    );
    fc.assert(
      fc.property(fc.array(part, { maxLength: 60 }), (parts) => {
        checkInert(markdownHtml(parts.join("")));
      }),
      { numRuns: 1500 },
    );
    fc.assert(fc.property(fc.string({ unit: "binary", maxLength: 200 }), (text) => checkInert(markdownHtml(text))));
  });

  it.each([
    "[",
    "[a](",
    "![",
    "*",
    "**a ",
    "_a",
    "`",
    "` ``",
    "<",
    "- ",
    "> ",
    "| ",
    "#",
    "https://",
    "http://a(",
    "\\",
    "((",
    "a*b_c~~",
    "1. ",
    " x\t",
    "- - ",
  ])("stays linear on a long run of %j", (unit) => {
    const text = unit.repeat(Math.ceil(100_000 / unit.length));
    expect(markdownHtml(text).length).toBeGreaterThan(0);
    expect(markdownHtml(text.replaceAll(" ", "\n")).length).toBeGreaterThan(0);
  });
});
