// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the placeholders are what is tested
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { buildSystemPrompt, type SystemPromptInput } from "./system-prompt.ts";
import { expandTemplate, findTemplates, splitArguments } from "./templates.ts";

const input: SystemPromptInput = {
  tools: ["read", "bash", "edit", "write"],
  cwd: "/work/a",
  platform: "linux",
  contextFiles: [{ path: "/work/AGENTS.md", text: "be kind" }],
  skills: [{ name: "pdf", description: "reads PDFs", path: "/s/pdf/SKILL.md", hidden: false }],
};

describe("buildSystemPrompt", () => {
  it("R032 is the same byte for byte, without date or time, and ends with what differs between folders", () => {
    const one = buildSystemPrompt(input).text;
    expect(buildSystemPrompt({ ...input }).text).toBe(one);
    const other = buildSystemPrompt({ ...input, cwd: "/work/b" }).text;
    const common = [...one].findIndex((char, index) => char !== other[index]);
    expect(one.slice(0, common)).toMatch(/Working directory: \/work\/$/);
    expect(one).not.toMatch(/\b20\d\d\b/);
  });

  it("costs at most 600 tokens of 4 bytes with the default tools", () => {
    const { text } = buildSystemPrompt({ ...input, contextFiles: [], skills: [] });
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(600 * 4);
  });

  it("speaks only of tools that are on", () => {
    const { text } = buildSystemPrompt({ ...input, tools: ["grep"] });
    expect(text).not.toMatch(/oldText|sed|tau -p/);
    expect(text).toContain("Search with grep");
    expect(buildSystemPrompt({ ...input, tools: [] }).sections).not.toHaveProperty("skills");
  });

  it("replaces its own words by --system-prompt and adds to them, keeping the rest", () => {
    const { sections, text } = buildSystemPrompt({ ...input, custom: "You are X.", append: ["One.", "Two."] });
    expect(Object.keys(sections)).toEqual(["role", "append", "skills", "context", "environment"]);
    expect(text.startsWith("You are X.\n\nOne.\n\nTwo.\n\n# Skills")).toBe(true);
    expect(text).toContain('<instructions path="/work/AGENTS.md">\nbe kind\n</instructions>');
    expect(text).toContain("- pdf: reads PDFs (/s/pdf/SKILL.md)");
  });
});

describe("prompt templates", () => {
  let dir: string;
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), "tau-prompts-"));
    writeFileSync(join(dir, "review.md"), "---\ndescription: Review\n---\nReview $1 for ${2:-bugs}: $@\n");
  });
  afterEach(() => rmSync(dir, { recursive: true }));

  const expand = (text: string) => expandTemplate(text, findTemplates([dir]).templates);

  it("expands /name args and leaves all other text alone", () => {
    expect(expand('/review "a b" style')).toBe('Review a b for style: "a b" style');
    expect(expand("/review x")).toBe("Review x for bugs: x");
    expect(expand("/unknown x")).toBe("/unknown x");
    expect(expand("see /review x")).toBe("see /review x");
  });

  it.each([
    ["$2 $1 $3.", "b a c."],
    ["$ARGUMENTS", "a b c"],
    ["${@:2}", "b c"],
    ["${@:2:1}", "b"],
    ["${@:-none} ${9:-nine}", "a b c nine"],
    ["costs $5x and $$", "costs x and $$"],
  ])("substitutes %s", (body, expected) => {
    const template = { name: "t", description: "", argumentHint: undefined, path: "", body };
    expect(expandTemplate("/t a b c", [template])).toBe(expected);
  });

  it.each([
    ["$ARGUMENTS", "one  two\n    three\n\tfour"],
    ["<$@>", "<one  two\n    three\n\tfour>"],
    ["${@:2}", "two\n    three\n\tfour"],
    ["${@:2:2}", "two\n    three"],
    ["${@:-none}", "one  two\n    three\n\tfour"],
  ])("R279 gives the arguments as they were typed: %s", (body, expected) => {
    const template = { name: "t", description: "", argumentHint: undefined, path: "", body };
    expect(expandTemplate("/t one  two\n    three\n\tfour\n", [template])).toBe(expected);
  });

  it("R279 keeps the indentation of a text that begins on the next line", () => {
    const template = { name: "t", description: "", argumentHint: undefined, path: "", body: "$ARGUMENTS" };
    for (const head of ["/t\n", "/t  \r\n"]) {
      expect(expandTemplate(`${head}    if x:\n        y`, [template])).toBe("    if x:\n        y");
    }
  });

  it.each([
    ["pay $500 or $10", "pay $500 or $10"],
    ["$1.50 and $2,000", "$1.50 and $2,000"],
    ["$0 $ARGUMENTSX $name $", "$0 $ARGUMENTSX $name $"],
    ["\\$1 \\$@ \\$ARGUMENTS \\${1:-x} \\${@:2} \\$500", "$1 $@ $ARGUMENTS ${1:-x} ${@:2} $500"],
    ["\\$HOME \\n \\\\", "\\$HOME \\n \\\\"],
    ["awk '{print \\$1}' $1", "awk '{print $1}' a"],
    ["$1, $2. $1.", "a, . a."],
    ["$1-$2 ${2:-two}", "a- two"],
  ])("R279 fills only places where an argument can be meant: %s", (body, expected) => {
    const template = { name: "t", description: "", argumentHint: undefined, path: "", body };
    expect(expandTemplate("/t a", [template])).toBe(expected);
  });

  it.each([
    ["a 'b c' d", ["a", "b c", "d"]],
    ["doesn't split", ["doesn't", "split"]],
    ['"say \\"hi\\"" x', ['say "hi"', "x"]],
    ['"open', ['"open']],
    ["", []],
  ])("splits %j as a shell user expects", (text, expected) => {
    expect(splitArguments(text)).toEqual(expected);
  });
});
