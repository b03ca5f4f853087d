import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { answer, MODEL, said, testBed } from "./bed.ts";

const bed = testBed();

describe("what the model is told", () => {
  it("R279 a template gets the text as it was typed, and keeps prices and escaped dollar signs", async () => {
    const server = await bed.serve(() => answer("ok"));
    bed.tau.file("home/.tau/prompts/fix.md", "For $500 or $1.50, print \\$1 of $1:\n$ARGUMENTS");
    const typed = "this code\n    if x:\n\ty()";
    await bed.tau.run(["-p", ...MODEL, `/fix ${typed}`]);
    expect(said(server, 0).user).toBe(`For $500 or $1.50, print $1 of this:\n${typed}`);
  });

  it("R308 leaves out a context file of a project that leads out of it, and says so", async () => {
    const server = await bed.serve(() => answer("ok"));
    const key = bed.tau.file("home/.ssh/id_ed25519", "PRIVATE KEY");
    mkdirSync(join(bed.tau.cwd, ".git"));
    bed.tau.file("work/CLAUDE.md", "the rules of the project");
    symlinkSync(key, join(bed.tau.cwd, "AGENTS.md"));
    const { code, stderr } = await bed.tau.run(["-p", ...MODEL, "hello"]);
    expect(code).toBe(0);
    expect(stderr).toContain(`AGENTS.md is left out: it leads to ${key}`);
    expect(said(server, 0).system).toContain("the rules of the project");
    expect(JSON.stringify(server.requests.map(({ body }) => body))).not.toContain("PRIVATE KEY");
  });

  it("R308 leaves out skills and templates of an approved project that lead out of it, and says so", async () => {
    const server = await bed.serve(() => answer("ok"));
    const secret = bed.tau.file(
      "home/secret/SKILL.md",
      "---\nname: stolen\ndescription: PRIVATE KEY\n---\nPRIVATE KEY",
    );
    bed.tau.file("work/.tau/skills/mine/SKILL.md", "---\nname: mine\ndescription: of the project\n---\n");
    bed.tau.file("work/.tau/prompts/own.md", "own words");
    mkdirSync(join(bed.tau.cwd, ".agents/skills"), { recursive: true });
    symlinkSync(secret, join(bed.tau.cwd, ".tau/prompts/go.md"));
    symlinkSync(join(bed.tau.home, "secret"), join(bed.tau.cwd, ".tau/skills/linked"));
    symlinkSync(join(bed.tau.home, "secret"), join(bed.tau.cwd, ".agents/skills/linked"));
    const { stderr } = await bed.tau.run(["-p", ...MODEL, "--approve", "/own"]);
    const refused = await bed.tau.run(["-p", ...MODEL, "--approve", "/go"]);
    // A folder that two links lead to is looked at once.
    expect(stderr.match(/is left out: it leads to/g)).toHaveLength(2);
    expect(said(server, 0).user).toBe("own words");
    expect(said(server, 0).system).toContain("of the project");
    expect(refused.code).toBe(2);
    expect(JSON.stringify(server.requests.map(({ body }) => body))).not.toContain("PRIVATE KEY");
  });
});
