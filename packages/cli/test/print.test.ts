import { execFileSync, spawn } from "node:child_process";
import { closeSync, existsSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { answer, bash, MODEL, said, sent, testBed } from "./bed.ts";
import { ended } from "./tau.ts";

const bed = testBed();

/** A picture of one pixel. */
const DOT = "R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7";

describe("print mode", () => {
  it("does the work and prints only the last answer", async () => {
    const mock = await bed.serve([bash("echo from-the-tool > made.txt; cat made.txt"), answer("It is done.")]);
    const { code, stdout, stderr } = await bed.tau.run(["-p", ...MODEL, "make it"]);
    expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: "It is done.\n", stderr: "" });
    expect(readFileSync(join(bed.tau.cwd, "made.txt"), "utf8")).toBe("from-the-tool\n");
    expect(mock.requests[1]?.raw).toContain("from-the-tool");
    expect(mock.requests[0]?.headers.authorization).toBe("Bearer mock-key-12345");
    mock.assertDone();
    expect(bed.sessionFiles()).toHaveLength(1);
  });

  it("reports tools and retries on stderr when that is asked for", async () => {
    await bed.serve([bash("true"), answer("ok")]);
    const { stdout, stderr } = await bed.tau.run(["-p", "--verbose", ...MODEL, "x"]);
    expect([stdout, stderr]).toEqual(["ok\n", "> bash true\n"]);
  });

  it("R135 cleans what a server says before it reaches a terminal, and reports a fallback", async () => {
    const mock = await bed.serve([
      {
        content: [],
        wire: { mode: "status", status: 401, body: { error: { message: "go \x1b]0;t\x07away \u202e" } } },
      },
      answer("ok"),
    ]);
    bed.tau.file("home/.tau/models.json", {
      providers: { mock: { baseUrl: `${mock.url}/v1`, api: "openai-completions", apiKey: "k", models: ["m", "n"] } },
    });
    bed.tau.file("home/.tau/settings.json", { fallbackModels: ["mock/n"] });
    const { code, stdout, stderr } = await bed.tau.run(["-p", ...MODEL, "x"]);
    expect([code, stdout]).toEqual([0, "ok\n"]);
    expect(stderr).toMatch(/^tau: warning: mock\/m failed, continuing with mock\/n: go .*away/);
    expect(stderr.trimEnd().split("\n")).toHaveLength(1);
    expect(stderr).not.toMatch(/[\x1b\u202e]/);
  });

  it("warns of a file that is sent in part, and of images that the model does not take, in all modes", async () => {
    const mock = await bed.serve(() => answer("ok"));
    bed.tau.file("work/big.txt", "line\n".repeat(100_000));
    writeFileSync(join(bed.tau.cwd, "dot.gif"), Buffer.from(DOT, "base64"));
    const big = /warning: @big\.txt: only the first 256 kB of its 489 kB are sent; the agent can read the rest/;
    const dot = /warning: mock\/m takes no images, so @dot\.gif is not sent; choose another model/;
    const [print, json] = await Promise.all([
      bed.tau.run(["-p", ...MODEL, "@big.txt", "@dot.gif", "x"]),
      bed.tau.run(["--mode", "json", ...MODEL, "@big.txt", "@dot.gif", "x"]),
    ]);
    for (const { code, stderr } of [print, json]) {
      expect(code).toBe(0);
      expect(stderr).toMatch(big);
      expect(stderr).toMatch(dot);
    }
    const warnings = json.records().filter(({ type }) => type === "warning");
    expect(warnings.map(({ message }) => `warning: ${message}`)).toEqual([
      expect.stringMatching(big),
      expect.stringMatching(dot),
    ]);
    bed.tau.useServer(mock.url, { input: ["text", "image"] });
    expect((await bed.tau.run(["-p", ...MODEL, "@dot.gif", "x"])).stderr).toBe("");
  });

  it("puts stdin before files before the message, and sends further messages after it", async () => {
    const mock = await bed.serve([answer("one"), answer("two")]);
    bed.tau.file("work/a.txt", "file text\n");
    const { code, stdout } = await bed.tau.run([...MODEL, "@a.txt", "first", "second"], { stdin: "piped text\n" });
    expect([code, stdout]).toEqual([0, "two\n"]);
    expect(said(mock, 0).user).toBe(`piped text\n\n<file name="${bed.tau.cwd}/a.txt">\nfile text\n</file>\n\nfirst`);
    expect(said(mock, 1).user).toBe("second");
  });

  it("takes the prompt from stdin alone, from a pipe or a file, and empty stdin as none", async () => {
    const mock = await bed.serve(() => answer("ok"));
    const fd = openSync(bed.tau.file("prompt.txt", "from a file"), "r");
    const [pipe, file, empty] = await Promise.all([
      bed.tau.run(MODEL, { stdin: "from a pipe" }),
      bed.tau.run(MODEL, { stdin: fd }),
      bed.tau.run([...MODEL, "only this"], { stdin: "" }),
      bed.tau.run(MODEL, { stdin: "a\0b" }),
    ]);
    closeSync(fd);
    expect([pipe.code, file.code, empty.code]).toEqual([0, 0, 0]);
    expect([0, 1, 2, 3].map((index) => said(mock, index).user).sort()).toEqual([
      "a\0b",
      "from a file",
      "from a pipe",
      "only this",
    ]);
  });

  it("R191 counts the wait for stdin as time, and ends with code 3 when it is over", async () => {
    bed.tau.useServer("http://127.0.0.1:1");
    const run = (...args: string[]) => ended(bed.tau.start([...args, "--timeout", "1", ...MODEL], { openStdin: true }));
    const [print, json] = await Promise.all([run("-p"), run("--mode", "json")]);
    expect([print.code, print.stdout]).toEqual([3, ""]);
    expect(print.stderr).toContain("the limit of 1 s is reached, waiting for stdin to end");
    expect([json.code, json.records()]).toEqual([3, [expect.objectContaining({ type: "error", exitCode: 3 })]]);
  });

  it("continues without a stdin that somebody left open, when there is a prompt", async () => {
    await bed.serve([answer("ok")]);
    const child = bed.tau.start(["-p", ...MODEL, "x"], { openStdin: true });
    // Node's pipe to a child is a socket; nothing is written to it and it is not closed.
    const { code, stdout, stderr } = await ended(child);
    expect([code, stdout]).toEqual([0, "ok\n"]);
    expect(stderr).toContain("stdin is open but silent");
  });

  it("attaches images and refuses what is neither text nor image", async () => {
    const mock = await bed.serve([answer("ok")], { input: ["text", "image"] });
    const png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
    writeFileSync(join(bed.tau.cwd, "p.png"), Buffer.from(png, "base64"));
    writeFileSync(join(bed.tau.cwd, "b.bin"), Buffer.from([1, 0, 2]));
    expect((await bed.tau.run(["-p", ...MODEL, "@p.png", "look"])).code).toBe(0);
    expect(mock.requests[0]?.raw).toContain("data:image/png;base64,iVBOR");
    const refused = await bed.tau.run(["-p", ...MODEL, "@b.bin", "look"]);
    expect([refused.code, refused.stderr]).toEqual([
      2,
      expect.stringMatching(/@b\.bin: a binary file \(.*, 3 bytes\)/),
    ]);
  });

  it("R057 judges a @file by its content: binaries without a zero byte are refused, UTF-16 is decoded", async () => {
    const mock = await bed.serve([answer("ok")]);
    writeFileSync(join(bed.tau.cwd, "doc"), "%PDF-1.7 all ASCII\n");
    writeFileSync(join(bed.tau.cwd, "noise"), Buffer.from(Array.from({ length: 300 }, (_, at) => (at % 8) + 1)));
    writeFileSync(join(bed.tau.cwd, "wide.txt"), Buffer.from("\uFEFFschön\n", "utf16le"));
    for (const [name, what] of [
      ["doc", "PDF document, 19 bytes"],
      ["noise", "unknown binary data, 300 bytes"],
    ]) {
      const refused = await bed.tau.run(["-p", ...MODEL, `@${name}`, "look"]);
      expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining(`@${name}: a binary file (${what})`)]);
    }
    expect((await bed.tau.run(["-p", ...MODEL, "@wide.txt", "look"])).code).toBe(0);
    expect(said(mock, 0).user).toContain('wide.txt">\nschön\n</file>');
  });

  it("puts the sampling parameters of models.json into each request, and the word for the nearest thinking level", async () => {
    const mock = await bed.serve(() => answer("ok"), {
      reasoning: true,
      thinkingLevelMap: { minimal: null },
      samplingParams: { top_p: 0.9, model: "other" },
      samplingParamsByThinkingLevel: { minimal: { seed: 10 }, low: { seed: 20 } },
    });
    expect((await bed.tau.run(["-p", "--model", "mock/m:minimal", "x"])).code).toBe(0);
    expect(sent(mock, 0)).toMatchObject({ model: "m", top_p: 0.9, seed: 20, reasoning_effort: "low" });
  });

  it("sends a text that begins with a path to the model as it is", async () => {
    const mock = await bed.serve(() => answer("ok"));
    const texts = ["/usr/bin/x is broken", "/login returns 404"];
    for (const text of texts) expect((await bed.tau.run(["-p", ...MODEL, text])).code).toBe(0);
    expect(texts.map((_, index) => said(mock, index).user)).toEqual(texts);
  });

  it("takes the system prompt from files, also in UTF-16, and from a text that only names one", async () => {
    const mock = await bed.serve([answer("ok")]);
    bed.tau.file("work/role.md", "You are Ada.\n");
    writeFileSync(join(bed.tau.cwd, "more.txt"), Buffer.from("\uFEFFFrom UTF-16.", "utf16le"));
    const append = ["./more.txt", "See also notes.md"].flatMap((value) => ["--append-system-prompt", value]);
    expect((await bed.tau.run(["-p", ...MODEL, "--system-prompt", "role.md", ...append, "x"])).code).toBe(0);
    expect(said(mock, 0).system).toMatch(/^You are Ada\.\s+From UTF-16\.\s+See also notes\.md/);
  });

  it("R235 reads @<(command), @/dev/stdin, files without a size, and a pipe as the system prompt", async () => {
    const mock = await bed.serve(() => answer("ok"));
    const pipe = join(bed.tau.cwd, "pipe");
    execFileSync("mkfifo", [pipe]);
    const writer = (text: string) => spawn("sh", ["-c", `printf '%s' '${text}' > '${pipe}'`], { stdio: "ignore" });
    writer("from a command");
    expect((await bed.tau.run(["-p", ...MODEL, "@pipe", "@/proc/self/status", "x"])).code).toBe(0);
    expect(said(mock, 0).user).toMatch(/from a command[\s\S]*Pid:/);
    writer("You are Ada.");
    expect((await bed.tau.run(["-p", ...MODEL, "--append-system-prompt", pipe, "x"])).code).toBe(0);
    expect(said(mock, 1).system).toContain("You are Ada.");
    expect((await bed.tau.run(["-p", ...MODEL, "@/dev/stdin", "x"], { stdin: "piped" })).code).toBe(0);
    expect(said(mock, 2).user).toBe("piped\n\nx");
  });

  it("R175 R181 ends with exit code 1 and the message when the API fails, with nothing on stdout", async () => {
    await bed.serve([
      bash("true"),
      { content: [], wire: { mode: "status", status: 400, body: { error: { message: "no such thing" } } } },
    ]);
    const { code, stdout, stderr } = await bed.tau.run(["-p", ...MODEL, "x"]);
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr).toMatch(/^tau: .*no such thing/);
    expect(stderr.trimEnd().split("\n")).toHaveLength(1);
  });

  it("R160 ends well when the reader of stdout goes away", async () => {
    await bed.serve(() => answer(Array.from({ length: 100_000 }, (_, line) => `line ${line}\n`).join("")));
    const child = bed.tau.start(["-p", ...MODEL, "x"]);
    child.stdout?.once("data", () => child.stdout?.destroy());
    const { code, stderr } = await ended(child);
    expect([code, stderr]).toEqual([0, ""]);
  });
});

describe("a reader or a disk that is gone", () => {
  it("R160 ends well also for the help text, and continues when stderr is closed", async () => {
    await bed.serve([bash("true"), answer("ok")]);
    const help = bed.tau.start(["--help"]);
    help.stdout?.destroy();
    expect(await ended(help)).toMatchObject({ code: 0, stderr: "" });
    const run = bed.tau.start(["-p", "--verbose", ...MODEL, "x"]);
    run.stderr?.destroy();
    expect(await ended(run)).toMatchObject({ code: 0, stdout: "ok\n" });
  });

  it("ends with exit code 1 when the answer cannot be written", async ({ skip }) => {
    skip(!existsSync("/dev/full"), "there is no /dev/full here");
    await bed.serve(() => answer("ok"));
    const stdout = openSync("/dev/full", "w");
    try {
      const runs = await Promise.all(
        [["-p"], ["--mode", "json"]].map((mode) => bed.tau.run([...mode, ...MODEL, "x"], { stdout })),
      );
      for (const { code, stderr } of runs)
        expect([code, stderr]).toEqual([1, expect.stringMatching(/^tau: cannot write to stdout: ENOSPC[^\n]*\n$/)]);
    } finally {
      closeSync(stdout);
    }
  });

  it("R107 R108 answers all the same when the session cannot be saved, says so, and ends with exit code 1", async () => {
    await bed.serve([answer("ok")]);
    const blocked = join(bed.tau.file("a-file", ""), "sessions");
    const { code, stdout, stderr } = await bed.tau.run(["-p", ...MODEL, "--session-dir", blocked, "x"]);
    expect([code, stdout]).toEqual([1, "ok\n"]);
    const lines = stderr.trimEnd().split("\n");
    expect(lines).toEqual([
      expect.stringContaining("warning: The session is not being saved"),
      expect.stringContaining("tau: the session is not saved"),
    ]);
    expect(stderr).not.toContain("--continue");
  });

  it("says so when --continue finds nothing, and continues with a new session", async () => {
    await bed.serve([answer("ok")]);
    const { code, stdout, stderr } = await bed.tau.run(["-p", ...MODEL, "--continue", "x"]);
    expect([code, stdout]).toEqual([0, "ok\n"]);
    expect(stderr).toMatch(
      /^tau: warning: there is no session of .* to continue, so this is a new one; --session[^\n]*\n$/,
    );
  });
});

it("ends with an error, not silently, when nothing is left that could end the run", async () => {
  const script = bed.tau.file("script.json", [{ content: ["never"], fault: "hang" }]);
  bed.tau.file("home/.tau/models.json", {
    providers: { mock: { baseUrl: `file://${script}`, api: "scripted", models: ["m"] } },
  });
  const { code, stderr } = await bed.tau.run(["-p", ...MODEL, "x"]);
  expect([code, stderr]).toEqual([1, expect.stringContaining("the run stopped before its end")]);
});

it("R154 loads TLS and the proxy code only for a request that needs them", async () => {
  await bed.serve(() => answer("ok"));
  const list = join(bed.tau.root, "loaded");
  const write = `process.on("exit", () => require("fs").writeFileSync(${JSON.stringify(list)}, process.moduleLoadList.join("\\n")));`;
  const preload = bed.tau.file("preload.cjs", write);
  const loaded = async (env: Record<string, string>) => {
    const { code } = await bed.tau.run(["-p", ...MODEL, "x"], {
      env: { NODE_OPTIONS: `--require ${preload}`, ...env },
    });
    expect(code).toBe(0);
    return readFileSync(list, "utf8").match(/^NativeModule (http|https|tls)$/gm);
  };
  expect(await loaded({})).toEqual(["NativeModule http"]);
  const forOthers = { SSL_CERT_FILE: "/x.pem", HTTPS_PROXY: "http://127.0.0.1:1" };
  expect(await loaded(forOthers)).toEqual(["NativeModule http"]);
});
