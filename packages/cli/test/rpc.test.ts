import type { ChildProcess } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { RpcClient } from "@tau/host";
import { toolCall, type WireReply, type WireServer, type WireServerOptions, wireServer } from "@tau/llm/testing";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Ended, ended, seen, Tau } from "./tau.ts";

let tau: Tau;
let server: WireServer | undefined;
beforeEach(() => {
  tau = new Tau();
});
afterEach(async () => {
  await server?.close();
  server = undefined;
  tau.remove();
});

async function serve(steps: WireServerOptions["steps"]): Promise<void> {
  server = await wireServer({ steps });
  tau.useServer(server.url);
}

const answer = (text: string): WireReply => ({ content: [text] });
const bash = (command: string): WireReply => ({ content: [toolCall("bash", { command })] });
const RPC = ["--mode", "rpc", "--model", "mock/m"];

interface Served {
  client: RpcClient;
  child: ChildProcess;
  /** How the process ended. */
  end: Promise<Ended>;
}

function start(args: string[] = [], env: Record<string, string> = {}): Served {
  const child = tau.start([...RPC, ...args], { openStdin: true, env });
  const end = ended(child);
  const { stdin, stdout } = child;
  if (!stdin || !stdout) throw new Error("no pipes");
  return { client: new RpcClient({ input: stdin, output: stdout }), child, end };
}

const isAlive = (pid: number) =>
  existsSync(`/proc/${pid}`) && !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));

describe("--mode rpc", () => {
  it("R174 R176 serves a conversation with nothing but records on stdout, and ends with stdin", async () => {
    await serve([bash("printf 'a\\342\\200\\250b\\rc\\0d\\302\\205e\\n'; pwd"), answer("Done.")]);
    tau.file("home/.tau/skills/bad/SKILL.md", "---\nname: bad\n---\n");
    const { client, end } = start(["--verbose"], { TAU_DEBUG: "1" });
    expect(await client.send("hello")).toMatchObject({ protocolVersion: 1, name: "tau" });
    expect(await client.promptAndWait("go")).toMatchObject({ status: "done" });
    expect(await client.send("get_last_assistant_text")).toEqual({ text: "Done." });
    await client.close();
    const { code, stdout, stderr, records } = await end;
    expect(code).toBe(0);
    expect(stdout).not.toMatch(/[\u2028\u2029\u0085\r\0]/);
    expect(records().every(({ type }) => typeof type === "string")).toBe(true);
    expect(records().find(({ type }) => type === "warning")?.message).toContain("no description");
    expect(stderr).toContain("no description");
  });

  it("refuses a skill and a command that there is none of, and continues", async () => {
    await serve([answer("ok")]);
    tau.file("home/.tau/prompts/review.md", "Review $1.");
    const { client, end } = start();
    await expect(client.promptAndWait("/skill:nosuch x")).rejects.toThrow('there is no skill "nosuch"');
    await expect(client.promptAndWait("/reviw x")).rejects.toThrow("did you mean /review?");
    expect(await client.promptAndWait("/review x")).toMatchObject({ status: "done" });
    await client.close();
    expect((await end).code).toBe(0);
    expect(server?.requests).toHaveLength(1);
    expect(server?.requests[0]?.raw).toContain("Review x.");
  });

  it("answers what came before the end of stdin, settles what ran, and exits with 0", async () => {
    await serve([bash("sleep 30")]);
    const lines = [{ type: "get_state" }, { type: "prompt", message: "go" }, { type: "get_available_models" }];
    const { code, records } = await tau.run(RPC, { stdin: lines.map((line) => JSON.stringify(line)).join("\n") });
    expect(code).toBe(0);
    expect(
      records()
        .filter(({ type }) => type === "response")
        .map(({ success }) => success),
    ).toEqual([true, true, true]);
    expect(records().filter(({ type }) => type === "agent_settled")).toMatchObject([{ aborted: true }]);
  });

  it("R105 a second writer waits a moment for the first, then is refused by an error record and exit code 2", async () => {
    await serve(() => answer("ok"));
    const first = start();
    await first.client.promptAndWait("go");
    const { sessionFile = "" } = await first.client.send("get_state");
    const refused = await tau.run([...RPC, "--session", sessionFile], { stdin: "" });
    expect(refused.code).toBe(2);
    const record = { type: "error", exitCode: 2, message: expect.stringContaining(`by process ${first.child.pid}`) };
    expect(refused.records()).toEqual([record]);
    expect(refused.stderr).toContain("is being written by process");
    const next = start(["--session", sessionFile]);
    const state = next.client.send("get_state");
    first.child.kill("SIGTERM");
    expect(await state).toMatchObject({ sessionFile, messageCount: 2 });
    expect((await first.end).code).toBe(143);
    await next.client.close();
  });

  it("R159 tools work in the session that follows, and what the one before started is ended", async () => {
    await serve([bash("sleep 30 & echo $! > pid; echo one"), answer("a"), bash("echo two"), answer("b")]);
    const { client, end } = start();
    await client.promptAndWait("first");
    const pid = Number(readFileSync(join(tau.cwd, "pid"), "utf8"));
    expect(isAlive(pid)).toBe(true);
    await client.send("new_session");
    expect(isAlive(pid)).toBe(false);
    await client.promptAndWait("second");
    const { messages } = await client.send("get_messages");
    expect(messages[2]).toMatchObject({ role: "toolResult", isError: false, content: [{ text: "two" }] });
    await client.close();
    expect((await end).code).toBe(0);
  });

  it("keeps the name of a session in which nothing was said yet", async () => {
    await serve(() => answer("ok"));
    const first = start();
    const { sessionFile = "", sessionId } = await first.client.send("get_state");
    await first.client.close();
    expect(existsSync(sessionFile)).toBe(false);
    const second = start(["--session", sessionFile]);
    expect(await second.client.send("get_state")).toMatchObject({ sessionFile, sessionId });
    await second.client.promptAndWait("go");
    await second.client.close();
    expect(existsSync(sessionFile)).toBe(true);
  });

  it.each([
    ["SIGTERM", 143],
    ["SIGHUP", 129],
    ["SIGINT", 130],
  ] as const)("R080 on %s it settles the run, ends its tools, and exits with %i", async (signal, code) => {
    await serve([bash("echo $$; sleep 30")]);
    const { client, child, end } = start();
    const output = seen(child, /"text":"\d+\\n"/);
    await client.send("prompt", { message: "go" });
    const pid = Number(/"text":"(\d+)\\n"/.exec(await output)?.[1]);
    child.kill(signal);
    const done = await end;
    expect(done.code).toBe(code);
    expect(done.records().filter(({ type }) => type === "agent_settled")).toMatchObject([{ aborted: true }]);
    expect(isAlive(pid)).toBe(false);
  });

  it("R160 ends in good order when nobody reads any more", async () => {
    await serve([bash("echo $$ > pid; for i in $(seq 50); do echo $i; sleep 0.1; done"), answer("ok")]);
    const { client, child, end } = start();
    await client.send("prompt", { message: "go" });
    await seen(child, /tool_execution_update/);
    child.stdout?.destroy();
    const { code, signal, stderr } = await end;
    expect([code, signal, stderr]).toEqual([0, null, ""]);
    expect(isAlive(Number(readFileSync(join(tau.cwd, "pid"), "utf8")))).toBe(false);
  });

  it.each([
    ["no model", ["--mode", "rpc"], "no model is set up"],
    ["an unknown model", ["--mode=rpc", "--model", "mock/n"], "unknown model"],
    ["an unknown option", ["--modle", "x", "--mode", "rpc"], "--model"],
    ["a file argument", [...RPC, "@a.txt"], "prompt command"],
    ["no such session", [...RPC, "--session", "nope"], "there is no session"],
  ])("R177 gives one error record and exit code 2 for %s", async (_name, args, text) => {
    if (args.includes("--model") || args.includes("mock/m")) tau.useServer("http://127.0.0.1:1");
    const { code, records, stderr } = await tau.run(args, { stdin: '{"type":"get_state"}\n' });
    expect(code).toBe(2);
    expect(records()).toEqual([{ type: "error", exitCode: 2, message: expect.stringContaining(text) }]);
    expect(stderr).toContain(text);
  });
});
