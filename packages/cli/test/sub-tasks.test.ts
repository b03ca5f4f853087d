import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { toolCall, type WireReply, type WireRequest, type WireServer, wireServer } from "@tau/llm/testing";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { COMMAND, ended, Tau } from "./tau.ts";

let tau: Tau;
let server: WireServer;
/** Processes that a test cannot leave behind, whatever fails in it. */
const strays: number[] = [];
beforeEach(() => {
  tau = new Tau();
  tau.file("home/.tau/settings.json", { retry: { maxRetries: 1, baseDelayMs: 1 } });
});
afterEach(async () => {
  for (const pid of strays.splice(0)) if (isAlive(pid)) process.kill(pid, "SIGKILL");
  await server.close();
  tau.remove();
});

const MODEL = ["--model", "mock/m"];
const answer = (text: string): WireReply => ({ content: [text] });
const bash = (...commands: string[]): WireReply => ({
  content: commands.map((command) => toolCall("bash", { command })),
});
const subTask = (prompt: string, ...options: string[]) =>
  ["exec", `"${process.execPath}" "${COMMAND}" -p --model mock/m`, ...options, `"${prompt}"`].join(" ");

interface Body {
  messages: { role: string; content: unknown; tool_call_id?: string }[];
}

/** What a request answers to: the first word of its session's prompt, and how many replies it has had. */
function placeOf(request: WireRequest): { task: string; turn: number } {
  const { messages } = request.body as unknown as Body;
  const first = messages.find(({ role }) => role === "user")?.content;
  return { task: String(first).split(" ")[0] ?? "", turn: messages.filter(({ role }) => role === "assistant").length };
}

/** A server that all processes of a test talk to; each task has a list of answers. */
async function serve(tasks: Record<string, WireReply[]>): Promise<WireServer> {
  server = await wireServer({
    steps(request) {
      const { task, turn } = placeOf(request);
      const list = tasks[task] ?? [];
      const reply = list[Math.min(turn, list.length - 1)];
      if (!reply) throw new Error(`no answer for ${task}`);
      return reply;
    },
  });
  tau.useServer(server.url);
  return server;
}

/** The results that the last request of a task brought, in order. */
function results(task: string): string[] {
  const request = server.requests.findLast((each) => placeOf(each).task === task);
  if (!request) throw new Error(`no request of ${task}`);
  const { messages } = request.body as unknown as Body;
  return messages.filter(({ role }) => role === "tool").map(({ content }) => String(content));
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    // The dead that nobody has waited for yet do nothing any more.
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
}

// Half a minute in all: long for a busy machine, short for a test that hangs.
const LOOKS = 1500;

/** The pid that a command wrote into a file; waits until it is there. */
async function pidIn(name: string): Promise<number> {
  const path = join(tau.cwd, name);
  for (let look = 0; look < LOOKS; look++) {
    const text = existsSync(path) ? readFileSync(path, "utf8") : "";
    if (text.endsWith("\n")) {
      const pid = Number(text);
      strays.push(pid);
      return pid;
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error(`no command wrote ${name}`);
}

describe("a sub-task is tau -p run by bash", () => {
  it.each([
    ["SIGINT", 130],
    ["SIGTERM", 143],
    ["SIGHUP", 129],
  ] as const)("R017 R080 %s ends it and all that it started, and nobody asks the model again", async (signal, code) => {
    const sleep = "echo $$ > tool.pid; sleep 1000 & echo $! > child.pid; setsid sleep 1000 & wait";
    await serve({
      parent: [bash(`echo $$ > sub.pid; ${subTask("child: sleep")}`), answer("never")],
      "child:": [bash(sleep), answer("never")],
    });
    const process = tau.start(["--mode", "json", ...MODEL, "parent"]);
    const end = ended(process);
    const pids = [await pidIn("sub.pid"), await pidIn("tool.pid"), await pidIn("child.pid")];
    process.kill(signal);
    const { code: found, records } = await end;
    expect(found).toBe(code);
    expect(records().at(-1)).toMatchObject({ type: "agent_settled", aborted: true });
    expect(pids.map(isAlive)).toEqual([false, false, false]);
    expect(server.requests).toHaveLength(2);
    server.assertDone();
    const files = readdirSync(join(tau.tauDir, "sessions"), { recursive: true, encoding: "utf8" });
    // Both sessions were settled: each has the result of its call, and neither is held by a lock.
    const sessions = files.filter((name) => name.endsWith(".jsonl"));
    expect(sessions).toHaveLength(2);
    for (const name of sessions) {
      expect(readFileSync(join(tau.tauDir, "sessions", name), "utf8")).toContain('"role":"toolResult"');
    }
    expect(files.filter((name) => name.endsWith(".lock"))).toEqual([]);
  });

  it("R017 its death alone is reported to the parent at once", async () => {
    await serve({
      parent: [bash(`echo $$ > sub.pid; ${subTask("child: sleep")}`), answer("it died")],
      "child:": [bash("echo $$ > tool.pid; sleep 1000")],
    });
    const process = tau.start(["-p", ...MODEL, "parent"]);
    const end = ended(process);
    const [sub] = [await pidIn("sub.pid"), await pidIn("tool.pid")];
    globalThis.process.kill(sub, "SIGKILL");
    const { code, stdout } = await end;
    expect([code, stdout]).toEqual([0, "it died\n"]);
    expect(results("parent")[0]).toMatch(/SIGKILL|signal 9|exit code 137/);
  });

  it("R018 a stuck one ends by its limit, an aborted one at once, and the result of the finished one is kept", async () => {
    await serve({
      parent: [
        bash(
          subTask("quick:"),
          subTask("stuck:", "--timeout 1"),
          `${subTask("stuck:").replace("exec", "")} & kill -TERM $!; wait $!`,
        ),
        answer("all told"),
      ],
      "quick:": [answer("the quick answer")],
      "stuck:": [{ content: ["x"], wire: { mode: "no_response" } }],
    });
    const { code, stdout } = await tau.run(["-p", ...MODEL, "parent"]);
    expect([code, stdout]).toEqual([0, "all told\n"]);
    const [quick, stuck, aborted] = results("parent");
    expect(quick).toBe("the quick answer");
    expect(stuck).toMatch(/limit of 1 s[\s\S]*exit code 3/);
    expect(aborted).toMatch(/exit code 143/);
  });

  it("R018 the time-out of the command ends one that does not end, with its own commands", async () => {
    const call = toolCall("bash", { command: `echo before; ${subTask("child: sleep")}`, timeout: 3 });
    await serve({
      parent: [{ content: [call] }, answer("told")],
      "child:": [bash("echo $$ > tool.pid; sleep 1000")],
    });
    const end = tau.run(["-p", ...MODEL, "parent"]);
    const pid = await pidIn("tool.pid");
    expect((await end).stdout).toBe("told\n");
    expect(results("parent")[0]).toMatch(/^before\n[\s\S]*timed out after 3 s/);
    expect(isAlive(pid)).toBe(false);
    expect(server.requests.filter((each) => placeOf(each).task === "child:")).toHaveLength(1);
  });

  it("R023 a dropped connection is a failed result, not the half answer", async () => {
    await serve({
      parent: [bash(subTask("child: speak")), answer("it failed")],
      "child:": [
        { content: ["half of an answer that never ends"], chunkSize: 4, wire: { mode: "reset", afterDeltas: 3 } },
      ],
    });
    const { code, stdout } = await tau.run(["-p", ...MODEL, "parent"]);
    expect([code, stdout]).toEqual([0, "it failed\n"]);
    const [result] = results("parent");
    expect(result).toMatch(/exit code 1/);
    expect(result).not.toContain("half of an");
    // The first try and its retry.
    expect(server.requests.filter((each) => placeOf(each).task === "child:")).toHaveLength(2);
  });

  it("G3 a task that always hands on stops at the depth limit, and every level hears of it", async () => {
    tau.file("home/.tau/settings.json", { limits: { maxDepth: 2 } });
    await serve({ task: [bash(subTask("task")), answer("handed on")] });
    const { code, stdout } = await tau.run(["-p", ...MODEL, "task"]);
    expect([code, stdout]).toEqual([0, "handed on\n"]);
    // Depth 0, 1 and 2 each asked twice; depth 3 did not start.
    expect(server.requests).toHaveLength(6);
    const raw = server.requests.map((request) => request.raw).join();
    expect(raw).toContain("3 deep, and the limit is 2");
  });
});

describe("R262 a sub-task has what its tau has", () => {
  const hidden = "sk-handed-on-4f9a8b7c6d";
  const command = `"${process.execPath}" "${COMMAND}"`;
  const provider = (more: object) => ({
    baseUrl: `${server.url}/v1`,
    api: "openai-completions",
    models: ["m"],
    ...more,
  });
  const asked = (task: string) => server.requests.filter((each) => placeOf(each).task === task);
  const authorization = (request: WireRequest | undefined) => request?.headers.authorization;

  it.each([
    ["of a known provider", "openai", "OPENAI_API_KEY", {}],
    ["that models.json names", "own", "MY_LOGIN", { apiKey: "$MY_LOGIN" }],
  ])("model and key %s, which no other command sees", async (_title, name, variable, more) => {
    await serve({
      parent: [bash(`env; cat /proc/$PPID/cmdline; ${command} -p "child: x"`), answer("done")],
      "child:": [bash("env"), bash(`${command} -p "grandchild: x"`), answer("child's answer")],
      "grandchild:": [answer("grandchild's answer")],
    });
    tau.file("home/.tau/models.json", { providers: { [name]: provider(more) } });
    tau.file("home/.tau/settings.json", { limits: { maxDepth: 3 } });
    const { code, stderr } = await tau.run(["-p", "--model", `${name}/m`, "parent"], { env: { [variable]: hidden } });
    expect([code, stderr]).toEqual([0, expect.not.stringContaining("tau:")]);
    expect(results("parent")[0]).toContain("child's answer");
    expect(results("child:")).toEqual([
      expect.stringContaining("TAU_DEPTH=2"),
      expect.stringContaining("grandchild's answer"),
    ]);
    for (const task of ["child:", "grandchild:"]) {
      expect(asked(task).map(authorization)).toEqual(asked(task).map(() => `Bearer ${hidden}`));
    }
    const told = [...results("parent"), ...results("child:")].join("\n");
    for (const secret of [hidden, variable, "[secret]"]) expect(told).not.toContain(secret);
  });

  it("a key that was given by hand, for its provider only", async () => {
    await serve({
      parent: [bash(`${command} -p "child: x"`, `${command} -p --model other/m "child: y"`), answer("done")],
      "child:": [answer("child's answer")],
    });
    tau.file("home/.tau/models.json", {
      providers: { own: provider({ apiKey: "$UNSET_A" }), other: provider({ apiKey: "$UNSET_B" }) },
    });
    await tau.run(["-p", "--model", "own/m", "--api-key", hidden, "parent"]);
    expect(results("parent")).toEqual(["child's answer", expect.stringContaining('No API key for "other"')]);
    expect(asked("child:").map(authorization)).toEqual([`Bearer ${hidden}`]);
  });

  it("its own choice comes first", async () => {
    await serve({
      parent: [bash(`${command} -p --model own/n "child: x"`), answer("done")],
      "child:": [answer("child's answer")],
    });
    tau.file("home/.tau/models.json", { providers: { own: provider({ apiKey: "k", models: ["m", "n"] }) } });
    tau.file("home/.tau/settings.json", { defaultModel: "own/n" });
    await tau.run(["-p", "--model", "own/m", "parent"]);
    expect(asked("child:").map(({ body }) => body.model)).toEqual(["n"]);
    expect(asked("parent").map(({ body }) => body.model)).toEqual(["m", "m"]);
  });

  it.each([
    ["--max-turns", "3", /limit of 2 turns/],
    ["--max-cost", "5", /limit of \$2/],
  ])("what is left of %s, also against a higher one of its own", async (option, value, text) => {
    const cost = { input: 1, output: 1, cacheRead: 0, cacheWrite: 0 };
    const usage = { input: 2_000_000, output: 1_000_000 };
    await serve({
      parent: [{ ...bash(`${command} -p --model mock/m ${option} 100 "child: x"`), usage }, answer("x")],
      "child:": [{ ...bash("true"), usage }],
    });
    tau.useServer(server.url, { cost });
    await tau.run(["-p", ...MODEL, option, value, "parent"]);
    expect(results("parent")[0]).toMatch(text);
    expect(results("parent")[0]).toMatch(/exit code 3/);
  });

  it("nothing for another program, nor for one that it did not start", async () => {
    const ask = `
      const socket = require("node:net").createConnection(process.env.TAU_PARENT);
      socket.on("connect", () => socket.write(process.pid + "\\n"));
      let got = "";
      socket.on("data", (text) => { got += text; });
      socket.on("error", (error) => console.log("error", error.code));
      socket.on("close", () => console.log("got", JSON.stringify(got)));`;
    const path = tau.file("ask.cjs", ask);
    await serve({
      parent: [bash(`"${process.execPath}" ${path}`, "ls -ld $(dirname $TAU_PARENT)"), answer("done")],
    });
    tau.file("home/.tau/models.json", { providers: { own: provider({ apiKey: "$MY_LOGIN" }) } });
    await tau.run(["-p", "--model", "own/m", "parent"], { env: { MY_LOGIN: hidden } });
    expect(results("parent")).toEqual(['got ""', expect.stringMatching(/^drwx------/)]);
  });

  it("a tau whose parent has ended works by itself", async () => {
    await serve({ "child:": [answer("child's answer")] });
    const { code, stdout } = await tau.run(["-p", ...MODEL, "child: x"], {
      env: { TAU_PARENT: join(tau.root, "gone.sock") },
    });
    expect([code, stdout]).toEqual([0, "child's answer\n"]);
  });
});
