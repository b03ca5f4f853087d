import { execFileSync } from "node:child_process";
import { chmodSync, closeSync, existsSync, openSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { wireServer } from "@tau/llm/testing";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Tau } from "./tau.ts";

let tau: Tau;
beforeEach(() => {
  tau = new Tau();
});
afterEach(() => tau.remove());

/** One line on stderr, nothing on stdout, exit code 2. */
async function refused(args: string[], text: string | RegExp, options = {}) {
  const { code, stdout, stderr } = await tau.run(args, options);
  expect(stderr).toMatch(text);
  expect(stderr.trimEnd().split("\n")).toHaveLength(1);
  expect(stderr.startsWith("tau: ")).toBe(true);
  expect([code, stdout]).toEqual([2, ""]);
}

describe("tau", () => {
  it("shows version and help", async () => {
    const [version, help, early] = await Promise.all([
      tau.run(["--version"]),
      tau.run(["-h"]),
      tau.run(["--offline", "-v"]),
    ]);
    expect(version).toMatchObject({ code: 0, stderr: "" });
    expect(version.stdout).toBe(early.stdout);
    expect(help).toMatchObject({ code: 0, stderr: "", stdout: expect.stringContaining("--append-system-prompt") });
  });

  it("refuses what it cannot do with one line and exit code 2", async () => {
    tau.useServer("http://127.0.0.1:1");
    await Promise.all([
      refused(["--modle", "x"], "did you mean --model"),
      refused(["-p"], "there is no prompt"),
      refused(["-p", "--model", "mock/n", "x"], /unknown model "mock\/n".*mock\/m/),
      refused(["-p", "--model", "mock/m", "@missing.txt", "x"], /@missing.txt: there is no such file.*space in front/),
      refused(["-p", "--model", "mock/m", "--session-id", "a".repeat(300), "x"], "of 300 characters is too long; give"),
      refused(["-p", "--model", "mock/m", "--resume", "x"], "tau sessions lists the sessions, --continue or --session"),
      refused(["-p", "--model", "mock/m", "--session", "nope", "x"], 'there is no session "nope"'),
      refused(["-p", "--model", "mock/m", "--tools", "reed", "x"], "did you mean read"),
      refused(["-p", "--model", "mock/m", "--skill", "none", "x"], "--skill none: there is no such file"),
      refused(["-p", "--api-key", "k", "x"], "--api-key needs --model"),
      refused(["demo", "lop"], 'not "lop"'),
      refused(["-p", "--model", "mock/m", " "], "there is no prompt"),
      refused(["-p", "--model", "nosuch/x", "x"], 'unknown model "nosuch/x"; see tau --list-models'),
      refused(["-p", "--max-turns", "-1", "x"], '--max-turns must be a whole number of at least 1, not "-1"'),
      refused(["-p", "--max-cost", "0", "x"], '--max-cost must be a number above 0, not "0"'),
    ]);
  });

  it("refuses the file of a prompt that is not there or is not text, and takes any other value as text", async () => {
    tau.useServer("http://127.0.0.1:1");
    tau.file("work/image.txt", "GIF89a");
    const run = (...args: string[]) => ["-p", "--model", "mock/m", ...args, "x"];
    await Promise.all([
      refused(run("--system-prompt", "./nosuch"), /--system-prompt \.\/nosuch: there is no such file .*give the text/),
      refused(run("--append-system-prompt", "~/no such.md"), "--append-system-prompt ~/no such.md: there is no such"),
      refused(run("--append-system-prompt", "rules.txt"), "--append-system-prompt rules.txt: there is no such file"),
      refused(run("--system-prompt", "../"), "--system-prompt ../: this is not a file"),
      refused(run("--system-prompt", "image.txt"), /image\.txt: a prompt must be text.*image\/gif/),
    ]);
  });

  it("refuses a skill and a command that there is none of, in one line", async () => {
    tau.useServer("http://127.0.0.1:1");
    tau.file("home/.tau/skills/pdf/SKILL.md", "---\ndescription: reads PDFs\n---\n");
    tau.file("home/.tau/prompts/review.md", "Review.");
    const run = (prompt: string) => ["-p", "--model", "mock/m", prompt];
    await Promise.all([
      refused(run("/skill:pfd a.pdf"), 'there is no skill "pfd": did you mean /skill:pdf?'),
      refused(run("/reviw src"), "did you mean /review?"),
    ]);
  });

  it("ends with code 2 whichever way a key cannot be had, and says what its command said", async () => {
    const provider = { baseUrl: "http://127.0.0.1:1", api: "openai-completions", models: ["m"] };
    tau.file("home/.tau/models.json", {
      providers: {
        quiet: { ...provider, apiKey: "!exit 3" },
        loud: { ...provider, apiKey: "!echo locked for $GITHUB_TOKEN >&2; echo hint >&2; exit 4" },
        header: { ...provider, apiKey: "k", headers: { "X-Team": "!exit 5" } },
      },
    });
    const env = { GITHUB_TOKEN: "ghp_1234567890" };
    const run = (name: string) => ["-p", "--model", `${name}/m`, "x"];
    await Promise.all([
      refused(run("quiet"), /command failed: it ended with exit code 3\. To fix it/),
      refused(run("loud"), 'it ended with exit code 4 and said "locked for [secret]"', { env }),
      refused(run("header"), /models\.json: the header X-Team .*exit code 5/),
    ]);
    const json = await tau.run(["--mode", "json", "--model", "quiet/m", "x"]);
    expect([json.code, json.records().at(-2)]).toEqual([2, expect.objectContaining({ type: "error", exitCode: 2 })]);
  });

  it("ends with code 2, before any try, for a key or a header that cannot be sent, and says where it stands", async () => {
    const provider = { baseUrl: "http://127.0.0.1:1", api: "openai-completions", models: ["m"] };
    const models = tau.file("home/.tau/models.json", {
      providers: {
        given: { ...provider, apiKey: "k" },
        two: { ...provider, apiKey: "!printf 'a\\nb'" },
        header: { ...provider, apiKey: "k", headers: { "X-Team": "$TEAM" } },
        stored: provider,
        unset: provider,
      },
    });
    const stored = { type: "api_key", key: "\u043a\u043b\u044e\u0447" };
    const auth = tau.file("home/.tau/auth.json", { stored, unset: { ...stored, key: "$FOO" } });
    chmodSync(auth, 0o600);
    const run = (name: string, ...more: string[]) => ["-p", "--model", `${name}/m`, ...more, "x"];
    const env = { TEAM: "a\nb", OPENAI_API_KEY: "a\u20acb" };
    await Promise.all([
      refused(run("given", "--api-key", "a\nb"), 'the key for "given" in --api-key cannot be sent: it has more than'),
      refused(run("two"), `the key for "two" in ${models} cannot be sent: it has more than one line; give`),
      refused(run("header"), `${models}: the header X-Team cannot be sent: it has more than one line; correct`, {
        env,
      }),
      refused(run("stored"), `the key for "stored" in ${auth} cannot be sent: it has the character U+043A`),
      refused(run("unset"), "the one in auth.json cannot be used: the environment variable FOO is not set"),
      refused(["-p", "--provider", "openai", "x"], "in OPENAI_API_KEY cannot be sent: it has the character U+20AC", {
        env,
      }),
    ]);
  });

  it("adds up the lists of tools that are given", async () => {
    const mock = await wireServer({ steps: () => ({ content: ["ok"] }) });
    tau.useServer(mock.url);
    try {
      await tau.run(["-p", "--model", "mock/m", "-t", "+grep", "-t", "+find", "-xt", "bash", "-xt", "edit", "x"]);
      const body = mock.requests[0]?.body as unknown as { tools: { function: { name: string } }[] };
      expect(body.tools.map((tool) => tool.function.name).sort()).toEqual(["find", "grep", "read", "write"]);
    } finally {
      await mock.close();
    }
  });

  it("ends with exit code 1 when what is asked for cannot be written", async ({ skip }) => {
    skip(!existsSync("/dev/full"), "there is no /dev/full here");
    tau.useServer("http://127.0.0.1:1");
    const runs = [["-v"], ["--version", "--offline"], ["--help"], ["--list-models"]].map(async (args) => {
      const stdout = openSync("/dev/full", "w");
      const { code, stderr } = await tau.run(args, { stdout });
      closeSync(stdout);
      expect([code, stderr]).toEqual([1, expect.stringMatching(/^tau: cannot write to stdout: ENOSPC/)]);
    });
    await Promise.all(runs);
  });

  it("leaves out a fallback model whose key cannot be sent, and says so", async () => {
    const mock = await wireServer({ steps: [{ content: ["ok"] }] });
    const provider = { baseUrl: `${mock.url}/v1`, api: "openai-completions", models: ["m"] };
    tau.file("home/.tau/models.json", {
      providers: { mock: { ...provider, apiKey: "k" }, other: { ...provider, apiKey: "a\nb" } },
    });
    tau.file("home/.tau/settings.json", { fallbackModels: ["other/m"] });
    const { code, stderr } = await tau.run(["-p", "--model", "mock/m", "x"]);
    expect([code, stderr]).toEqual([0, expect.stringContaining("fallback model other/m is left out: the key for")]);
    await mock.close();
  });

  it("R266 marks the default in the list of models", async () => {
    tau.useServer("http://127.0.0.1:9");
    const { stdout } = await tau.run(["--list-models"]);
    expect(stdout).toMatch(/^mock\/m .* default$/m);
    expect(stdout.match(/default$/gm)).toHaveLength(1);
  });

  it("refuses a home that is not a folder", async () => {
    const path = tau.file("work/a.txt", "");
    await Promise.all([
      refused(["-p", "x"], `${path} is not a folder; set TAU_DIR`, { env: { TAU_DIR: path } }),
      refused(["-p", "x"], `${path} is not a folder; set TAU_DIR`, { env: { TAU_DIR: `${path}/tau` } }),
    ]);
  });

  it("says of a place of sessions and of a session what it is instead, and leaves it alone", async () => {
    tau.useServer("http://127.0.0.1:1");
    const path = tau.file("work/a.txt", "notes\n");
    const newer = { type: "session", version: 99, id: "n", timestamp: "2026-01-01T00:00:00.000Z", cwd: tau.cwd };
    const session = tau.file("work/newer.jsonl", `${JSON.stringify(newer)}\n`);
    const run = (...args: string[]) => ["-p", "--model", "mock/m", ...args, "x"];
    await Promise.all([
      refused(run("--session-dir", "a.txt"), "--session-dir a.txt: this is not a folder"),
      refused(run("--session", "a.txt"), `${path} is not a session file`),
      refused(run("--session", "./a.txt"), `${path} is not a session file`),
      refused(run("--session", tau.cwd), `${tau.cwd} is a folder, not a session`),
      refused(run("--session", session), /newer\.jsonl is of version 99 of the session format.*update tau.*--fork/),
    ]);
    expect(readdirSync(tau.cwd).sort()).toEqual(["a.txt", "newer.jsonl"]);
    expect(readFileSync(path, "utf8")).toBe("notes\n");
    expect(readFileSync(session, "utf8")).toBe(`${JSON.stringify(newer)}\n`);
  });

  it("names the variable, the flag and the file when there is no key or no model", async () => {
    tau.file("home/.tau/models.json", {
      providers: {
        mock: { baseUrl: "http://127.0.0.1:1", api: "openai-completions", apiKey: "$MOCK_KEY", models: ["m"] },
      },
    });
    await refused(["-p", "--model", "mock/m", "x"], /models\.json.*MOCK_KEY is not set.*--api-key.*auth\.json/);
    await refused(["-p", "x"], /no model is set up: set a key such as ANTHROPIC_API_KEY.*tau demo/);
  });

  it("names file, line and column of a configuration that is not JSON", async () => {
    const path = tau.file("home/.tau/settings.json", '{"a": 1\n "b": 2}');
    await refused(["-p", "--model", "mock/m", "x"], `${path}:2:2: not valid JSON`);
    tau.file("home/.tau/settings.json", "{}");
    tau.file("home/.tau/models.json", { providers: { x: { models: [{ id: "m" }] } } });
    await refused(["-p", "--model", "x/m", "x"], /models\.json: providers\.x\.baseUrl is missing/);
  });

  it.each(["settings.json", "models.json", "auth.json"])("refuses a %s that is not a regular file", async (name) => {
    const path = tau.file(`home/.tau/${name}`, "{}");
    rmSync(path);
    execFileSync("mkfifo", [path]);
    await refused(["-p", "--model", "mock/m", "x"], `cannot read ${path}: it is not a regular file`);
  });

  it.each(["gpt-4o:", "gpt-4o:hgh", "openai/gpt-4o:hgh", "GPT-4o:LOUD", "mock/m:hig", "m:"])(
    "R268 names the level of %s as wrong, and takes no other model",
    async (name) => {
      tau.useServer("http://127.0.0.1:1");
      const level = name.slice(name.indexOf(":") + 1);
      const env = { OPENAI_API_KEY: "k", OPENROUTER_API_KEY: "k" };
      await refused(["-p", "--model", name, "x"], `"${level}" behind ${name.split(":")[0]} is not a thinking level`, {
        env,
      });
    },
  );

  it("refuses an API that it does not know before the request", async () => {
    const x = { baseUrl: "http://127.0.0.1:1", api: "openai", models: ["m"] };
    tau.file("home/.tau/models.json", { providers: { x } });
    await refused(["-p", "--model", "x/m", "x"], /x\/m names the API "openai".*one of: openai-completions/);
    await refused(["-p", "x"], /names the API "openai"/);
  });

  it("says in the help what a newcomer needs first, without colours", async () => {
    const { stdout } = await tau.run(["--help"], { env: { FORCE_COLOR: "1" } });
    expect(stdout).toMatch(/two messages are two prompts/);
    expect(stdout).toMatch(/needs a key \(ANTHROPIC_API_KEY/);
    expect(stdout).not.toContain("\x1b");
    for (const line of stdout.split("\n")) expect(line.length).toBeLessThanOrEqual(120);
  });

  it("refuses binary data on stdin, and reads UTF-16 with its mark", async () => {
    tau.useServer("http://127.0.0.1:1");
    await Promise.all(
      [Buffer.from([0x7f, 0x45, 0x4c, 0x46, 0, 0xff]), Buffer.from([0xff, 0xfe, 0x20, 0])].map(async (bytes, index) => {
        const path = tau.file(`stdin-${index}`, "");
        writeFileSync(path, bytes);
        const stdin = openSync(path, "r");
        await refused(["-p", "--model", "mock/m"], index === 0 ? "stdin is binary data" : "there is no prompt", {
          stdin,
        });
        closeSync(stdin);
      }),
    );
  });

  it("G3 stops when taus stand too deep in one another", async () => {
    tau.useServer("http://127.0.0.1:1");
    await refused(["-p", "--model", "mock/m", "x"], "tau inside tau, 5 deep", { env: { TAU_DEPTH: "5" } });
  });

  it("never shows a stack trace unless TAU_DEBUG asks for it", async () => {
    tau.file("home/.tau/settings.json", "[");
    const debug = await tau.run(["-p", "x"], { env: { TAU_DEBUG: "1" } });
    expect(debug.stderr).toContain("    at ");
    expect((await tau.run(["-p", "x"])).stderr).not.toContain("    at ");
  });

  it("R177 ends a JSON stream with an error record for failures before the first event", async () => {
    tau.useServer("http://127.0.0.1:1");
    const runs = await Promise.all([
      tau.run(["--mode", "json", "x"], { env: { TAU_DIR: `${tau.root}/empty` } }),
      tau.run(["--mode=json", "--nonsense"]),
      tau.run(["--mode", "json", "--model", "mock/other", "x"]),
      tau.run(["--mode", "json", "--model", "mock/m"]),
    ]);
    for (const { code, stderr, records } of runs) {
      expect(code).toBe(2);
      expect(records().at(-1)).toMatchObject({ type: "error", exitCode: 2, message: expect.any(String) });
      expect(stderr.trimEnd().split("\n")).toHaveLength(1);
    }
  });

  it("lists models, filtered, and says how to get some", async () => {
    tau.useServer("http://127.0.0.1:1", { contextWindow: 128_000 });
    const all = await tau.run(["--list-models"]);
    expect(all.stdout).toMatch(/mock\/m +128k/);
    expect(all.stdout).not.toContain("anthropic/");
    expect((await tau.run(["--list-models", "sonnet"])).stdout).toMatch(/anthropic\/claude-sonnet.* no key/);
    expect((await tau.run(["--list-models", "nothing-like-it"])).stdout).toBe("");
    const none = await tau.run(["--list-models"], { env: { TAU_DIR: `${tau.root}/empty` } });
    expect([none.code, none.stderr]).toEqual([0, expect.stringContaining("ANTHROPIC_API_KEY")]);
  });

  it("has the version of its package in the bundle", async () => {
    const manifest = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));
    expect(["0.0.0-dev", manifest.version]).toContain((await tau.run(["--version"])).stdout.trim());
  });
});
