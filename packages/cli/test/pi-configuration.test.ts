import { chmodSync, writeFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { answer, MODEL, said, testBed } from "./bed.ts";
import { seen } from "./tau.ts";

const bed = testBed();
const skill = (description: string) => `---\ndescription: ${description}\n---\nDo it.`;
/** 1 pixel. */
const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

describe("R272 configuration that pi would use", () => {
  it("SYSTEM.md and APPEND_SYSTEM.md are used; those of a trusted project and options come first", async () => {
    const server = await bed.serve(() => answer("ok"));
    bed.tau.file("home/.tau/SYSTEM.md", "HOME SYSTEM");
    bed.tau.file("home/.tau/APPEND_SYSTEM.md", "HOME APPEND");
    bed.tau.file("work/.tau/SYSTEM.md", "PROJECT SYSTEM");
    const run = async (...options: string[]) => {
      await bed.tau.run(["-p", ...MODEL, ...options, "x"]);
      return said(server, server.requests.length - 1).system;
    };
    expect(await run()).toMatch(/^HOME SYSTEM\n\nHOME APPEND\n/);
    expect(await run("--approve")).toMatch(/^PROJECT SYSTEM\n\nHOME APPEND\n/);
    expect(await run("--system-prompt", "mine", "--append-system-prompt", "more")).toMatch(/^mine\n\nmore\n/);
  });

  it("AGENTS.override.md takes the place of AGENTS.md in its folder", async () => {
    const server = await bed.serve(() => answer("ok"));
    bed.tau.file("work/AGENTS.md", "the usual rules");
    bed.tau.file("work/AGENTS.override.md", "my own rules");
    bed.tau.file("AGENTS.md", "rules above");
    await bed.tau.run(["-p", ...MODEL, "x"]);
    const { system } = said(server, 0);
    expect(system).toMatch(/rules above[\s\S]*my own rules/);
    expect(system).not.toContain("the usual rules");
  });

  it("files directly in a skills folder are skills, and -path, !path and -name leave some out", async () => {
    const server = await bed.serve(() => answer("ok"));
    bed.tau.file("home/.tau/skills/flat.md", skill("flat one"));
    bed.tau.file("home/.tau/skills/README.md", "# What is in here");
    for (const name of ["kept", "by-path", "by-mark", "by-name"]) {
      bed.tau.file(`home/.tau/skills/${name}/SKILL.md`, skill(`skill ${name}`));
    }
    bed.tau.file("home/more/extra/SKILL.md", skill("skill extra"));
    bed.tau.file("home/.agents/skills/loose.md", skill("loose one"));
    bed.tau.file("home/.tau/settings.json", {
      skills: ["-skills/by-path", "!skills/by-mark/SKILL.md", "-by-name", "+~/more"],
    });
    const { stderr } = await bed.tau.run(["-p", ...MODEL, "x"]);
    expect(stderr).toBe("");
    const { system } = said(server, 0);
    for (const text of ["flat: flat one", "skill kept", "skill extra"]) expect(system).toContain(text);
    for (const text of ["by-path", "by-mark", "by-name", "README", "loose one"]) expect(system).not.toContain(text);
  });

  it("modelThinkingLevels holds for its model, before the default and behind what is asked for", async () => {
    const server = await bed.serve(() => answer("ok"), { reasoning: true });
    bed.tau.file("home/.tau/settings.json", {
      defaultThinkingLevel: "low",
      modelThinkingLevels: { "mock/m": "high", "mock/other": "minimal" },
    });
    await bed.tau.run(["-p", ...MODEL, "x"]);
    await bed.tau.run(["-p", "--model", "mock/m:medium", "x"]);
    const sentLevels = server.requests.map(({ body }) => body.reasoning_effort);
    expect(sentLevels).toEqual(["high", "medium"]);
    bed.tau.file("home/.tau/settings.json", { modelThinkingLevels: { "mock/m": "lots" } });
    expect((await bed.tau.run(["-p", ...MODEL, "x"])).stderr).toMatch(
      /"modelThinkingLevels" must be an object of levels/,
    );
  });

  it("images.blockImages holds for images of @file, of earlier runs and of RPC prompts", async () => {
    const server = await bed.serve(() => answer("ok"), { input: ["text", "image"] });
    writeFileSync(bed.tau.file("work/dot.png", ""), Buffer.from(PNG, "base64"));
    const first = await bed.tau.run(["-p", ...MODEL, "@dot.png", "look"]);
    expect(first).toMatchObject({ code: 0, stderr: "" });
    expect(JSON.stringify(server.requests[0]?.body)).toContain("data:image/png;base64,");
    bed.tau.file("home/.tau/settings.json", { images: { blockImages: true } });
    const again = await bed.tau.run(["-p", "-c", ...MODEL, "again"]);
    expect(again).toMatchObject({ code: 0 });
    const child = bed.tau.start(["--mode", "rpc", "--no-session", ...MODEL], { openStdin: true });
    const images = [{ type: "image", data: PNG, mimeType: "image/png" }];
    child.stdin?.write(`${JSON.stringify({ type: "prompt", message: "rpc", images })}\n`);
    await seen(child, /"type":"agent_settled"/);
    child.stdin?.end();
    expect(server.requests).toHaveLength(3);
    for (const { body } of server.requests.slice(1)) {
      expect(JSON.stringify(body)).not.toContain("base64,");
      expect(JSON.stringify(body)).toContain("images.blockImages");
    }
  });

  it("what is not used is named once, in one line a file, and what is empty is not", async () => {
    await bed.serve(() => answer("ok"));
    const settings = bed.tau.file("home/.tau/settings.json", {
      packages: ["npm:pi-skills"],
      enabledModels: ["claude-*"],
      extensions: [],
      theme: "dark",
    });
    const auth = bed.tau.file("home/.tau/auth.json", {
      anthropic: { type: "oauth", access: "a-token-of-pi", refresh: "r-token-of-pi", expires: 1 },
    });
    chmodSync(auth, 0o600);
    const { code, stderr } = await bed.tau.run(["-p", ...MODEL, "x"]);
    expect(code).toBe(0);
    expect(stderr.trimEnd().split("\n")).toEqual([
      `tau: warning: ${settings}: "packages", "enabledModels" are not used by tau; the other settings hold`,
      expect.stringContaining(`${auth}: the login of "anthropic" cannot be used by tau`),
    ]);
  });

  it.each([
    ["home", "home/.tau/models.json", "Bearer the-key-of-the-user"],
    ["a trusted project, which must not name keys of the user", "work/.tau/models.json", "Bearer MY_LOGIN"],
  ])('"apiKey": "NAME" of a variable in the file of %s', async (_title, path, expected) => {
    const server = await bed.serve(() => answer("ok"));
    const named = { baseUrl: `${server.url}/v1`, api: "openai-completions", apiKey: "MY_LOGIN", models: ["m"] };
    bed.tau.file(path, { providers: { named } });
    await bed.tau.run(["-p", "--approve", "--model", "named/m", "x"], { env: { MY_LOGIN: "the-key-of-the-user" } });
    expect(server.requests[0]?.headers.authorization).toBe(expected);
  });
});
