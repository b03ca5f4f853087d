import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { expandPrompt } from "./expand-prompt.ts";
import { findSkills } from "./skills.ts";
import { findTemplates } from "./templates.ts";

describe("expandPrompt", () => {
  let dir: string;
  let expand: (text: string) => string;
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), "tau-expand-"));
    mkdirSync(join(dir, "skills/pdf"), { recursive: true });
    mkdirSync(join(dir, "prompts"));
    writeFileSync(join(dir, "skills/pdf/SKILL.md"), "---\ndescription: reads PDFs\n---\nUse pdftotext.");
    writeFileSync(join(dir, "prompts/review.md"), "Review $1.");
    const { skills } = findSkills([join(dir, "skills")]);
    const { templates } = findTemplates([join(dir, "prompts")]);
    expand = (text) => expandPrompt(text, { skills, templates });
  });
  afterEach(() => rmSync(dir, { recursive: true }));

  it("expands skills and templates", () => {
    expect(expand("/review src")).toBe("Review src.");
    expect(expand("/skill:pdf a.pdf")).toMatch(/Use pdftotext\.[\s\S]*a\.pdf$/);
  });

  it("refuses a skill that there is none of, with the nearest one", () => {
    expect(() => expand("/skill:pfd a.pdf")).toThrow('no skill "pfd": did you mean /skill:pdf?');
    expect(() => expand("/skill:nosuch")).toThrow(/no skill "nosuch"; available: \/skill:pdf\. .*space before it/);
    rmSync(join(dir, "skills"), { recursive: true });
    expect(() => expand("/skill:pdf")).toThrow('the skill "pdf" cannot be read any more');
  });

  it("refuses what can only be a mistyped command", () => {
    expect(() => expand("/reveiw src")).toThrow('"/reveiw": did you mean /review?');
    expect(() => expand("/nosuch")).toThrow('no command or prompt template "/nosuch"; available: /review');
  });

  it("leaves paths, routes, sentences and everything else to the model", () => {
    for (const text of [
      "/usr/bin/x is broken",
      "/tmp",
      "/tmp is full",
      "/login returns 404",
      "/api/users",
      "/index.html",
      "/*",
      "/",
      " /reveiw src",
      "say /skill:nosuch",
      "// a comment",
    ])
      expect(expand(text)).toBe(text);
  });
});
