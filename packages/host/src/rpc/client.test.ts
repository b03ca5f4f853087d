import { PassThrough } from "node:stream";
import { describe, expect, it } from "vitest";
import { RpcClient, RpcError } from "./client.ts";
import { spawnRpcClient } from "./spawn-client.ts";

/** A client, and the other ends of its streams. */
function connect() {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const client = new RpcClient({ input, output });
  const sent = () => JSON.parse(String(input.read()).trim().split("\n").at(-1) ?? "");
  return { client, input, output, sent, say: (record: object) => output.write(`${JSON.stringify(record)}\n`) };
}

describe("RpcClient", () => {
  it("gives each response to its command, in whatever order they come", async () => {
    const { client, sent, say } = connect();
    const first = client.send("get_last_assistant_text");
    const a = sent();
    const second = client.send("set_session_name", { name: "n" });
    const b = sent();
    expect([a.type, b]).toEqual(["get_last_assistant_text", { id: b.id, type: "set_session_name", name: "n" }]);
    say({ id: "of nobody", type: "response", command: "x", success: true });
    say({ id: b.id, type: "response", command: "set_session_name", success: false, error: "no" });
    say({ id: a.id, type: "response", command: "get_last_assistant_text", success: true, data: { text: "hi" } });
    await expect(second).rejects.toEqual(new RpcError("set_session_name", "no"));
    expect(await first).toEqual({ text: "hi" });
  });

  it("gives events from the call on to each taker, and goes over lines that are not records", async () => {
    const { client, output, say } = connect();
    const [one, two] = [client.events(), client.events()];
    output.write("Debugger attached.\n\n[1]\nnull\n");
    say({ type: "agent_start" });
    say({ type: "turn_start" });
    expect((await one.next()).value).toEqual({ type: "agent_start" });
    expect((await two.next()).value).toEqual({ type: "agent_start" });
    await two.return?.();
    expect((await two.next()).done).toBe(true);
    expect((await one.next()).value).toEqual({ type: "turn_start" });
    output.end();
    expect((await one.next()).done).toBe(true);
    expect((await client.events().next()).done).toBe(true);
  });

  it("R184 rejects what is open when the server goes, also a prompt that is waited for", async () => {
    const { client, output, sent, say } = connect();
    const state = client.send("get_state");
    const run = client.promptAndWait("hello");
    const rejected = Promise.all([
      expect(state).rejects.toThrow("The server has ended"),
      expect(run).rejects.toThrow("The server has ended"),
    ]);
    say({ id: sent().id, type: "response", command: "prompt", success: true, data: { disposition: "started" } });
    output.end();
    await rejected;
    await expect(client.send("get_state")).rejects.toThrow("The server has ended");
    await client.close();
  });

  it("says why a program could not be started, and with what it ended", async () => {
    const base = { cwd: "/", env: {} };
    const missing = await spawnRpcClient({ ...base, command: "/nowhere/tau" });
    await expect(missing.send("get_state")).rejects.toThrow("ENOENT");
    const script = 'console.error("no key"); process.exit(2)';
    const failing = await spawnRpcClient({ ...base, command: process.execPath, args: ["-e", script, "--"] });
    await expect(failing.send("get_state")).rejects.toThrow("exit code 2: no key");
    await Promise.all([missing.close(), failing.close()]);
  });
});
