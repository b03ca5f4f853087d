import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { readFrontMatter } from "./front-matter.ts";
import { expandSkill, findSkills } from "./skills.ts";

let root: string;
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "tau-skills-")));
});
afterEach(() => rmSync(root, { recursive: true }));

function skill(name: string, text: string): string {
  mkdirSync(join(root, name), { recursive: true });
  writeFileSync(join(root, name, "SKILL.md"), text);
  return join(root, name, "SKILL.md");
}

describe("readFrontMatter", () => {
  it.each([
    ["description: Use when: x", "Use when: x"],
    ["description:\tTabbed", "Tabbed"],
    ['description: "quoted: \\"it\\""', 'quoted: "it"'],
    ["description: 'it''s'", "it's"],
    ["description: >-\n  folded\n  text", "folded text"],
    ["description: |\n  two\n  lines", "two\nlines"],
    ["description: plain\n  continues", "plain continues"],
    ["Description:no space", "no space"],
    ["description: a # b", "a # b"],
  ])("R167 reads %j", (head, expected) => {
    const { fields, body, problem } = readFrontMatter(`---\n${head}\n---\n\nBody\n`);
    expect(fields.description).toBe(expected);
    expect(body).toBe("Body\n");
    expect(problem).toBe(undefined);
  });

  it("R167 reads a head with a byte order mark and CRLF", () => {
    const { fields, body } = readFrontMatter("\uFEFF---\r\nname: n\r\n---\r\nBody\r\n");
    expect([fields.name, body]).toEqual(["n", "Body\n"]);
  });

  it("R167 reports the line of the first problem only, and continues", () => {
    const { fields, problem } = readFrontMatter("---\nname: {x}\n???\ndescription: d\n---\n");
    expect(fields).toEqual({ description: "d" });
    expect(problem).toBe('2: the value of "name" is not a plain text');
  });

  it("skips nested values without a word", () => {
    const text = "---\nmetadata:\n  author: a\n  tags:\n    - b\nname: n\n---\n";
    expect(readFrontMatter(text)).toEqual({ fields: { name: "n" }, body: "", problem: undefined });
  });
});

describe("findSkills", () => {
  it("R167 loads what it can of malformed skills, with one warning a file", () => {
    const unclosed = skill("unclosed", "---\nname: u\ndescription: d\n\n# Title\nhttp://x\n");
    const braces = skill("braces", "---\nname: {x}\ndescription: [y]\n---\n# What it does\n");
    const long = skill("long", `---\nname: l\ndescription: ${"x".repeat(30_000)}\n---\n`);
    const { skills, warnings } = findSkills([root]);
    expect(skills.map(({ name, description }) => [name, description.slice(0, 20)])).toEqual([
      ["braces", "What it does"],
      ["l", "x".repeat(20)],
      ["u", "d"],
    ]);
    expect(skills[1]?.description).toHaveLength(1024);
    expect(warnings.map((text) => text.split(":").slice(0, 2).join(":"))).toEqual([
      `${braces}:2`,
      `${long}:1`,
      `${unclosed}:1`,
    ]);
  });

  it("R167 keeps the first of two skills of one name and says so", () => {
    skill("a", "---\nname: same\ndescription: first\n---\n");
    const second = skill("b", "---\nname: same\ndescription: second\n---\n");
    const { skills, warnings } = findSkills([root]);
    expect(skills.map(({ description }) => description)).toEqual(["first"]);
    expect(warnings).toEqual([expect.stringContaining(`${second}:1: the name "same" is taken`)]);
  });

  it("R153 follows symlinked folders once, and survives dangling and cyclic links", () => {
    skill("real/one", "---\nname: one\ndescription: d\n---\n");
    mkdirSync(join(root, "skills"));
    symlinkSync(join(root, "real"), join(root, "skills/linked"));
    symlinkSync(join(root, "skills"), join(root, "skills/loop"));
    symlinkSync("nowhere", join(root, "skills/dangling"));
    symlinkSync("self", join(root, "skills/self"));
    symlinkSync(join(root, "skills"), join(root, "place"));
    const { skills, warnings } = findSkills([join(root, "place"), join(root, "skills")]);
    expect(skills.map(({ name }) => name)).toEqual(["one"]);
    expect(warnings).toEqual([]);
  });

  it("takes single files and hidden skills, and not what lies inside a skill", () => {
    skill("s", "---\ndescription: d\ndisable-model-invocation: true\n---\n");
    skill("s/references", "---\nname: inner\ndescription: d\n---\n");
    writeFileSync(join(root, "note.md"), "---\ndescription: note\n---\n");
    const { skills } = findSkills([root, join(root, "note.md"), join(root, "missing")]);
    expect(skills.map(({ name, hidden }) => [name, hidden])).toEqual([
      ["s", true],
      ["note", false],
    ]);
  });

  it("does not use a skill that says nothing about itself", () => {
    const path = skill("empty", "---\nname: e\n---\n");
    expect(findSkills([root])).toEqual({
      skills: [],
      warnings: [expect.stringContaining(`${path}:1: this skill has no description`)],
    });
  });
});

describe("expandSkill", () => {
  it("gives the instructions and the request, and leaves other texts alone", () => {
    const path = skill("pdf", "---\nname: pdf\ndescription: d\n---\nDo this.\n");
    const { skills } = findSkills([root]);
    expect(expandSkill("/skill:pdf read\nx.pdf", skills)).toBe(
      `<skill name="pdf" path="${path}">\nPaths in it are relative to ${root}/pdf.\n\nDo this.\n</skill>\n\nread\nx.pdf`,
    );
    expect(expandSkill("/skill:other x", skills)).toBe("/skill:other x");
    expect(expandSkill("see /skill:pdf", skills)).toBe("see /skill:pdf");
  });
});
