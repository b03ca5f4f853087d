import { spawn } from "node:child_process";
import { chmodSync, chownSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { answer, bash, MODEL, sent, testBed } from "./bed.ts";
import { COMMAND, ended } from "./tau.ts";

const bed = testBed();
/** A number that the system has no user for. */
const NOBODY = 54_321;

describe("R276 the machine that tau runs on", () => {
  it("has no HOME, with TAU_DIR set: runs", async () => {
    await bed.serve([bash("pwd"), answer("ok")]);
    const { code, stdout } = await bed.tau.run(["-p", ...MODEL, "x"], { env: { HOME: "", TAU_DIR: bed.tau.tauDir } });
    expect([code, stdout]).toEqual([0, "ok\n"]);
  });

  it("does not know the user: runs with TAU_DIR, and says what to set without it", async ({ skip }) => {
    skip(process.getuid?.() !== 0, "only root can be another user");
    const server = await bed.serve([bash("pwd"), answer("ok")]);
    bed.tau.useServer(server.url);
    for (const path of [bed.tau.root, bed.tau.home, bed.tau.tauDir, bed.tau.cwd]) chownSync(path, NOBODY, NOBODY);
    const tmp = join(bed.tau.root, "tmp");
    mkdirSync(tmp);
    chmodSync(tmp, 0o777);
    const run = (env: Record<string, string>, ...args: string[]) =>
      ended(
        spawn(process.execPath, [COMMAND, ...args], {
          cwd: bed.tau.cwd,
          uid: NOBODY,
          gid: NOBODY,
          env: { PATH: "/usr/bin:/bin", TMPDIR: tmp, ...env },
          stdio: ["ignore", "pipe", "pipe"],
        }),
      );
    const found = await run({ TAU_DIR: bed.tau.tauDir }, "-p", ...MODEL, "x");
    expect([found.code, found.stdout, found.stderr]).toEqual([0, "ok\n", ""]);
    const lost = await run({}, "-p", ...MODEL, "x");
    expect([lost.code, lost.stderr]).toEqual([
      2,
      expect.stringMatching(/^tau: there is no home folder: .*set TAU_DIR\n$/),
    ]);
    expect(await run({}, "--help")).toMatchObject({ code: 0 });
  });

  it.each(["v18.20.8", "v20.18.3", "v16.0.0"])(
    "has Node %s: refused, before anything else, in one line",
    async (version) => {
      const fake = join(bed.tau.root, "fake.cjs");
      writeFileSync(fake, `Object.defineProperty(process, "version", { value: ${JSON.stringify(version)} });`);
      const runs = [["--version"], ["-p", "x"], []].map((args) =>
        bed.tau.run(args, { env: { NODE_OPTIONS: `--require ${fake}` } }),
      );
      for (const { code, stdout, stderr } of await Promise.all(runs)) {
        expect([code, stdout]).toEqual([2, ""]);
        expect(stderr).toBe(
          `tau: Node 20.19 or newer is needed, and this is ${version}; install one from https://nodejs.org\n`,
        );
      }
    },
  );
});

describe("R271 tools that do not exist", () => {
  it.each([
    [{ defaultTools: ["+codemode"] }, [], ["bash", "edit", "read", "write"], /warning: .*defaultTools.*"codemode"/],
    [{}, ["--tools", "read,web_search"], ["read"], /warning: --tools: there is no tool "web_search"/],
    [{}, ["-xt", "nosuch"], ["bash", "edit", "read", "write"], /warning: --exclude-tools.*"nosuch"/],
  ])("%j %j: a warning, and the run goes on", async (settings, options, expected, warning) => {
    const server = await bed.serve([answer("ok")]);
    bed.tau.file("home/.tau/settings.json", settings);
    const { code, stderr } = await bed.tau.run(["-p", ...MODEL, ...options, "x"]);
    expect([code, stderr]).toEqual([0, expect.stringMatching(warning)]);
    expect(
      sent(server, 0)
        .tools.map((tool) => tool.function.name)
        .sort(),
    ).toEqual(expected);
  });
});
