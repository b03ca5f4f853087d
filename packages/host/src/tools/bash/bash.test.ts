import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { childVariables } from "../../platform/child-variables.ts";
import { runTool, tempFiles, until, workbench } from "../__fixtures__/workbench.ts";
import { createBashTool } from "./bash-tool.ts";

function bash(command: string, bench = workbench()) {
  return runTool(createBashTool(bench), { command });
}

describe("bash", () => {
  it("G2 gives the output of the command, stdout and stderr in the order they were written", async () => {
    const run = await bash("echo a; echo b >&2; echo c; echo d >&2");
    expect(run).toMatchObject({ text: "a\nb\nc\nd", isError: false, details: { exitCode: 0, end: "exit" } });
  });

  it("has a description and schema of at most 150 tokens, with the default time-out in seconds", () => {
    const { description, parameters } = createBashTool(workbench({ bashTimeoutSeconds: 77 }));
    const text = JSON.stringify({ name: "bash", description, parameters });
    expect(text).toContain("77");
    expect(text).toMatch(/seconds/i);
    expect(text.length / 4).toBeLessThan(150);
  });

  it("says so when there is no output", async () => {
    expect((await bash("true")).text).toBe("(no output)");
  });

  it("shows the exit code, and that it is an error", async () => {
    const run = await bash("echo out; exit 3");
    expect(run).toMatchObject({ text: "out\n\n[exit code 3]", isError: true, details: { exitCode: 3 } });
  });

  it("names the signal that ended the shell", async () => {
    const run = await bash("kill -TERM $$");
    expect(run).toMatchObject({ text: "[exit code 143: SIGTERM]", isError: true, details: { signal: "SIGTERM" } });
  });

  it("takes names of /dev/stdout and /dev/stderr, which sockets do not have", async () => {
    expect((await bash("echo a >/dev/stderr; echo b | tee /dev/stderr")).text).toBe("a\nb\nb");
  });

  it("R071 has an empty stdin: what reads it comes to its end at once", async () => {
    const run = await bash("cat; read x; echo read=$?; python3 -c 'input()' 2>&1 | tail -1; readlink /proc/self/fd/0");
    expect(run.text).toBe("read=1\nEOFError: EOF when reading a line\n/dev/null");
  });

  it("R074 reads no start-up files, functions or options of the user's shell", async () => {
    const bench = workbench({}, { "BASH_FUNC_find%%": '() { find "$@"; }', SHELLOPTS: "xtrace", CDPATH: "/" });
    const rc = join(bench.homeDir, ".bashrc");
    for (const file of [rc, join(bench.homeDir, ".bash_profile"), join(bench.homeDir, ".profile")]) {
      writeFileSync(file, 'echo sourced; grep() { grep "$@"; }\n');
    }
    const env = { ...bench.env, BASH_ENV: rc, ENV: rc, SHLVL: "0" };
    const run = await bash("type -t find grep; echo ok", { ...bench, env });
    expect(run.text).toBe("file\nfile\nok");
  });

  it("R076 leaves the shell history alone", async () => {
    const bench = workbench();
    const history = join(bench.homeDir, ".bash_history");
    writeFileSync(history, "secret of before\n");
    const run = await bash("history; echo done", { ...bench, env: { ...bench.env, HISTFILE: history } });
    expect(run.text).toBe("done");
    expect(readFileSync(history, "utf8")).toBe("secret of before\n");
  });

  it("R077 passes backslashes and quotes on as they are", async () => {
    expect((await bash(String.raw`echo 'a\\b' "c\d" 'e"f' $'\x41'`)).text).toBe(String.raw`a\\b c\d e"f A`);
  });

  it("R077 runs a command that is too long for an argument from a file that is removed", async () => {
    const bench = workbench();
    const run = await bash(`x='${"y".repeat(150_000)}'\necho $\{#x}; stat -c %a "$0"`, bench);
    expect(run.text).toBe("150000\n600");
    expect(tempFiles(bench)).toEqual([]);
  });

  it("R083 starts each call in the session's directory, after success and after failure", async () => {
    const bench = workbench();
    mkdirSync(join(bench.cwd, "x"));
    for (const command of ["cd x", "cd x && false"]) {
      const run = await bash(command, bench);
      expect(run.text).toContain(`cd does not last: the next call starts in ${bench.cwd} again`);
      expect((await bash("pwd", bench)).text).toBe(bench.cwd);
    }
    expect((await bash("cd x && pwd", bench)).text).toBe(join(bench.cwd, "x"));
  });

  it.each([
    ["is missing", (path: string) => rmSync(path, { recursive: true }), "does not exist"],
    ["is a file", (path: string) => execFileSync("sh", ["-c", 'rmdir "$0"; touch "$0"', path]), "is not a directory"],
  ])("R085 names the working directory when it %s", async (_name, spoil, problem) => {
    const bench = workbench();
    spoil(bench.cwd);
    const run = await bash("echo hi", bench);
    expect(run.isError).toBe(true);
    expect(run.text).toBe(`The working directory ${bench.cwd} ${problem}.`);
  });

  it("R085 names a configured shell that cannot be run", async () => {
    await expect(bash("echo hi", workbench({ shellPath: "/nope/bash" }))).rejects.toThrow(/\/nope\/bash.*shellPath/);
  });

  it("R093 runs the commands of the user's PATH and nothing in their place", async () => {
    const bench = workbench();
    writeFileSync(join(bench.cwd, ".gitignore"), ".env\n");
    writeFileSync(join(bench.cwd, ".env"), "KEY=MARKER\n");
    const own = join(bench.homeDir, "bin");
    mkdirSync(own);
    writeFileSync(join(own, "mytool"), "#!/bin/sh\necho mine\n");
    chmodSync(join(own, "mytool"), 0o755);
    const env = { ...bench.env, PATH: `${own}:${bench.env.PATH}` };
    expect((await bash("git init -q .; grep -r MARKER .; mytool", { ...bench, env })).text).toBe(
      "./.env:KEY=MARKER\nmine",
    );
  });

  it("R142 keeps the agent's keys and CI tokens from commands, and the rest of the environment with them", async () => {
    const variables = { ANTHROPIC_API_KEY: "sk-1", MY_GATEWAY: "sk-2", GITHUB_TOKEN: "ghp", USER_THING: "seen" };
    const bench = workbench();
    const { variables: env } = childVariables({
      variables: { ...bench.env, ...variables },
      secretNames: ["MY_GATEWAY"],
      depth: 0,
    });
    const run = await bash("env", { ...bench, env });
    expect(run.text).toContain("USER_THING=seen");
    expect(run.text).toContain(`HOME=${bench.homeDir}`);
    expect(run.text).not.toMatch(/sk-|ghp|_API_KEY|MY_GATEWAY|GITHUB_TOKEN/);
  });

  it("G3 gives the command its depth, which a tau in it can see", async () => {
    const bench = workbench();
    const { variables: env } = childVariables({ variables: { ...bench.env, TAU_DEPTH: "2" }, depth: 2 });
    expect((await bash("echo $TAU_DEPTH", { ...bench, env })).text).toBe("3");
  });

  it("puts the configured prefix before every command", async () => {
    expect((await bash("echo $X", workbench({ shellCommandPrefix: "X=5" }))).text).toBe("5");
  });

  it("refuses a command with a NUL character", async () => {
    expect(await bash("echo a\0b")).toMatchObject({ isError: true });
  });

  it("shows the output while the command runs", async () => {
    const bench = workbench();
    const gate = join(bench.cwd, "gate");
    const seen: string[] = [];
    const running = runTool(
      createBashTool(bench),
      { command: `mkfifo gate; printf '\\033[31mfirst\\n'; read x < gate; echo second` },
      { onUpdate: (text) => seen.push(text) },
    );
    await until(() => seen.length > 0);
    expect(seen[0]).toBe("first\n");
    writeFileSync(gate, "go\n");
    expect((await running).text).toBe("first\nsecond");
  });

  it("keeps no file of an output that is shown whole", async () => {
    const bench = workbench();
    await bash("seq 1000", bench);
    expect(tempFiles(bench)).toEqual([]);
  });

  it("shows head and tail of a long output and keeps the whole in a private file", async () => {
    const bench = workbench();
    const run = await bash("seq 1 10000", bench);
    const file = String(run.details.outputFile);
    expect(run.text).toMatch(/^1\n2\n/);
    expect(run.text).toMatch(/\n9999\n10000$/);
    expect(run.text).toContain(`${run.details.omittedBytes} bytes left out here; the whole output: ${file}`);
    expect(readFileSync(file, "utf8")).toBe(Array.from({ length: 10_000 }, (_, i) => `${i + 1}\n`).join(""));
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const shown = run.text.replace(/\n\n\[\.\.\..*\.\.\.\]\n\n/, "\n");
    expect(Buffer.byteLength(`${shown}\n`) + Number(run.details.omittedBytes)).toBe(statSync(file).size);
  });
});
