import { HtmlRenderer, Parser } from "commonmark";
import fc from "fast-check";
import MarkdownIt from "markdown-it";
import { marked } from "marked";
import { describe, expect, it } from "vitest";
import { ALL_HOSTILE, HOSTILE } from "../__fixtures__/hostile.ts";
import { inertMarkdown } from "./inert.ts";

/** What people look at Markdown with; each lets HTML through, as the most careless viewer would. */
const RENDERERS: Record<string, (markdown: string) => string> = {
  commonmark: (markdown) => new HtmlRenderer().render(new Parser().parse(markdown)),
  "markdown-it": (markdown) => new MarkdownIt({ html: true, linkify: true }).render(markdown),
  marked: (markdown) => marked.parse(markdown, { gfm: true, async: false }),
};

/** What nothing of a session may become: an element of its own, an image, a link that runs something. */
const HARM: readonly RegExp[] = [
  /<x-evil/i,
  /<(?:script|img|iframe|svg|style|meta|base|form|object)\b/i,
  /\s(?:href|src)="?\s*(?:javascript|vbscript|data):/i,
];

function harmIn(markdown: string): string[] {
  const whole = `# Title\n\n${inertMarkdown(markdown)}\n\n<details><summary>Next</summary>\n\n${inertMarkdown("`<x-evil>`")}\n\n</details>\n`;
  return Object.entries(RENDERERS).flatMap(([name, render]) => {
    const html = render(whole);
    return HARM.filter((pattern) => pattern.test(html)).map((pattern) => `${name}: ${pattern} in ${html}`);
  });
}

const EVIL = "<x-evil onload=a>";

describe("inertMarkdown in three renderers", () => {
  it.each([
    ["an end that is indented", `\`\`\`\ncode\n   \`\`\`\n${EVIL}`],
    ["an end with spaces behind", `\`\`\`\ncode\n\`\`\` \t\n${EVIL}`],
    ["a beginning with a space in front", ` \`\`\`\n${EVIL}\n \`\`\`\n${EVIL}`],
    ["three spaces in front", `   \`\`\`js\n${EVIL}\n\`\`\`\n${EVIL}`],
    ["a beginning that is code by four spaces", `    \`\`\`\n${EVIL}\n    \`\`\`\n${EVIL}`],
    ["a tab in front", `\t\`\`\`\n${EVIL}\n\`\`\`\n${EVIL}\n\`\`\`\n${EVIL}`],
    ["a longer fence inside of a shorter one", `\`\`\`\n\`\`\`\`\n${EVIL}\n\`\`\`\n${EVIL}`],
    ["a shorter one inside of a longer one", `\`\`\`\`\`\n\`\`\`\n${EVIL}\n\`\`\`\n${EVIL}`],
    ["tildes that backticks do not close", `~~~\n\`\`\`\n${EVIL}\n~~~\n${EVIL}`],
    ["an end with words behind", `\`\`\`\ncode\n\`\`\` js\n${EVIL}\n\`\`\`\n${EVIL}`],
    ["a fence in a list that the list's end closes", `- a\n\n  \`\`\`\n  code\n\n${EVIL}`],
    ["a fence in a list item's first line", `- \`\`\`\n${EVIL}\n\`\`\`\n${EVIL}`],
    ["a fence in a quote", `> \`\`\`\n${EVIL}\n> \`\`\`\n${EVIL}`],
    ["a fence that is never closed", `\`\`\`\n${EVIL}`],
    ["a language with markup", `\`\`\`${EVIL}\ncode\n\`\`\``],
    ["a span over two lines", `\`a\nb\` ${EVIL} \`c\nd\``],
    ["a span that a fence ends", `\`a\n\`\`\`\n${EVIL}\n\`\`\`\nb\` ${EVIL}`],
    ["a link that runs", "[a](javascript:alert) [b](<javascript:c>) [d][e]\n\n[e]: javascript:f"],
    ["a definition over two lines", "[e]:\njavascript:f\n\n[e]"],
    ["an image of a reference", "![a][e] ![e]\n\n[e]: https://x.example/pixel.png"],
    ["a carriage return as a line end", `\`\`\`\rcode\r   \`\`\`\r${EVIL}`],
  ])("R303 is inert for %s", (_, markdown) => {
    expect(harmIn(markdown)).toEqual([]);
  });

  it.each([...HOSTILE, ALL_HOSTILE])("R303 is inert for hostile text %#", (markdown) => {
    expect(harmIn(markdown)).toEqual([]);
  });

  it("R303 is inert for any mixture", { timeout: 120_000 }, () => {
    const line = fc.tuple(
      fc.constantFrom("", " ", "  ", "   ", "    ", "\t", "- ", "> ", "1. ", "  > ", "- - ", "* \t"),
      fc.constantFrom(
        "```",
        "````",
        "~~~",
        "~~~~",
        "``` js",
        "`",
        "``",
        EVIL,
        `\`${EVIL}\``,
        "text",
        "",
        "|a|b|",
        "|-|-|",
        "---",
        "# h",
        "[a]: <",
        "](javascript:a)",
        "![a](b)",
        "\\",
        "<!--",
        "-->",
        "<![CDATA[",
        "</details>",
      ),
      fc.constantFrom("", " ", "  ", "`", EVIL, "\\", " ```", "\r"),
    );
    const markdown = fc
      .array(line, { minLength: 1, maxLength: 14 })
      .map((lines) => lines.map((parts) => parts.join("")).join("\n"));
    fc.assert(
      fc.property(markdown, (text) => {
        expect(harmIn(text)).toEqual([]);
      }),
      { numRuns: 1500 },
    );
  });
});
