import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const cli = join(root, "packages/cli");
const json = (...path: string[]) => JSON.parse(readFileSync(join(root, ...path), "utf8"));
const tsc = join(root, "node_modules/.bin/tsc");
const run = (file: string, args: string[], cwd = root) => execFileSync(file, args, { cwd, encoding: "utf8" });

/** The packages whose code is bundled, those that they need included; what the command installs is not. */
function bundled(): Set<string> {
  const installed = Object.keys(json("packages/cli/package.json").dependencies);
  const found = new Set<string>();
  const add = (dependencies: Record<string, string> = {}) => {
    for (const name of Object.keys(dependencies)) {
      if (name.startsWith("@tau/") || installed.includes(name) || found.has(name)) continue;
      found.add(name);
      add(json("node_modules", name, "package.json").dependencies);
    }
  };
  for (const room of ["llm", "agent", "host"]) add(json("packages", room, "package.json").dependencies);
  return found;
}

describe("npm run build", () => {
  it("does not compile the tests, which npm run check does", () => {
    const { scripts } = json("package.json");
    expect(scripts.build).toMatch(/^tsc -b packages\/cli /);
    for (const room of ["llm", "agent", "host", "cli"]) {
      const files = run(tsc, ["-p", `packages/${room}`, "--listFilesOnly"]).split("\n");
      const ours = files.filter((path) => path.includes(`/packages/${room}/src/`));
      expect(ours.length).toBeGreaterThan(5);
      expect(ours.filter((path) => /\.test\.ts$|__fixtures__/.test(path))).toEqual([]);
    }
    expect(scripts.check).toMatch(/^tsc -b &&/);
    const tested = run(tsc, ["-p", "tsconfig.tests.json", "--listFilesOnly"]);
    expect(tested).toContain("packages/cli/test/build.test.ts");
    expect(tested).toContain("packages/host/src/tools/read/read.test.ts");
  });

  it("makes a code cache that a plain start takes", () => {
    const chunks = join(cli, "dist/chunks");
    const cache = readdirSync(chunks).find((name) => name.endsWith(`.${process.version}-${process.arch}.cache`)) ?? "";
    const chunk = join(chunks, cache.replace(/\.v[^v]*\.cache$/, ""));
    const script = `
      const { readFileSync } = require("node:fs");
      const { wrap } = require("node:module");
      const cachedData = readFileSync(${JSON.stringify(join(chunks, cache))});
      const { cachedDataRejected } = new (require("node:vm").Script)(
        wrap(readFileSync(${JSON.stringify(chunk)}, "utf8")),
        { filename: ${JSON.stringify(chunk)}, cachedData },
      );
      console.log(cachedDataRejected);`;
    expect(run(process.execPath, ["-e", script]).trim()).toBe("false");
  });

  it("ships the licence of every package in the bundle", () => {
    const text = readFileSync(join(cli, "dist/THIRD-PARTY-NOTICES.txt"), "utf8");
    const names = [...bundled()];
    expect(names).toContain("eventsource-parser");
    for (const name of names) {
      const { version, license } = json("node_modules", name, "package.json");
      const folder = join(root, "node_modules", name);
      const file = readdirSync(folder).find((each) => /^licen[cs]e/i.test(each)) ?? "";
      expect(text).toContain(`${name} ${version} (${license})`);
      expect(text).toContain(readFileSync(join(folder, file), "utf8").trim());
    }
    const [packed] = JSON.parse(run("npm", ["pack", "--dry-run", "--json", "--offline"], cli));
    const files: { path: string }[] = packed.files;
    expect(files.map(({ path }) => path)).toContain("dist/THIRD-PARTY-NOTICES.txt");
    expect(existsSync(join(cli, "LICENSE"))).toBe(true);
  });

  it.each([
    ["llm", "@tau/llm"],
    ["agent", "@tau/agent"],
    ["host", "@tau/host"],
    ["cli", "tau-agent"],
  ])("R278 packs %s as %s, with what a registry shows and without anything of the build", (room, name) => {
    const folder = join(root, "packages", room);
    const manifest = json("packages", room, "package.json");
    expect(manifest).toMatchObject({ name, license: "MIT", repository: { directory: `packages/${room}` } });
    expect(manifest.repository.url).toMatch(/^git\+https:/);
    expect(manifest.keywords.length).toBeGreaterThan(2);
    const [packed] = JSON.parse(run("npm", ["pack", "--dry-run", "--json", "--offline"], folder));
    const files: string[] = packed.files.map(({ path }: { path: string }) => path);
    expect(files).toEqual(expect.arrayContaining(["README.md", "LICENSE", "package.json"]));
    expect(files.filter((path) => /\.(map|tsbuildinfo|ts)$/.test(path) && !path.endsWith(".d.ts"))).toEqual([]);
    const holds = (text: string) => files.filter((path) => readFileSync(join(folder, path), "latin1").includes(text));
    expect(holds(root)).toEqual([]);
    expect(holds("sourceMappingURL=")).toEqual([]);
  });

  it("R278 keeps the command's name", () => {
    expect(json("packages/cli/package.json").bin).toEqual({ tau: "dist/tau.js" });
  });
});
