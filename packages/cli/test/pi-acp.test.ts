import { delimiter, dirname } from "node:path";
import { toolCall, type WireReply, type WireServer, wireServer } from "@tau/llm/testing";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { AcpClient, findPiAcp } from "./acp-client.ts";
import { COMMAND, Tau } from "./tau.ts";

const piAcp = findPiAcp();

let tau: Tau;
let server: WireServer;
const clients: AcpClient[] = [];
beforeEach(({ skip }) => {
  skip(piAcp === undefined, "the npm package pi-acp is not installed; npm ci brings it");
  tau = new Tau();
});
afterEach(async () => {
  if (piAcp === undefined) return;
  await Promise.all(clients.splice(0).map((client) => client.close()));
  await server.close();
  tau.remove();
});

/** An editor with pi-acp, which starts tau for each session. */
function editor(): AcpClient {
  const env = {
    PATH: [dirname(process.execPath), "/usr/bin", "/bin"].join(delimiter),
    HOME: tau.home,
    TAU_OFFLINE: "1",
    PI_ACP_PI_COMMAND: COMMAND,
    // Where pi-acp looks for sessions that it does not know by itself.
    PI_CODING_AGENT_DIR: tau.tauDir,
  };
  const client = new AcpClient(piAcp ?? "", { cwd: tau.cwd, env });
  clients.push(client);
  return client;
}

async function connected(): Promise<AcpClient> {
  const client = editor();
  await client.request("initialize", { protocolVersion: 1, clientCapabilities: {} });
  return client;
}

async function serve(steps: WireReply[]): Promise<void> {
  server = await wireServer({ steps });
  tau.useServer(server.url, { contextWindow: 100_000 });
}

/** Until then pi-acp still asks the process of the session, and falls when that is gone. */
function ready(client: AcpClient, from = 0): Promise<void> {
  return client.seen((update) => {
    return update.sessionUpdate === "available_commands_update" && client.updates.indexOf(update) >= from;
  });
}

const prompt = (sessionId: string, text: string) => ({ sessionId, prompt: [{ type: "text", text }] });

describe("pi-acp", () => {
  it("holds a whole conversation: a tool call, a cancel, and the session in another process", async () => {
    await serve([
      { content: ["I look.", toolCall("bash", { command: "echo from-the-tool" })] },
      { content: ["It says from-the-tool."] },
      { content: [toolCall("bash", { command: "echo begun; sleep 30" })] },
      { content: ["Still here."] },
    ]);
    const first = await connected();
    const { sessionId, models } = await first.request("session/new", { cwd: tau.cwd, mcpServers: [] });
    expect(models.currentModelId).toBe("mock/m");
    expect(await first.request("session/prompt", prompt(sessionId, "what is there?"))).toEqual({
      stopReason: "end_turn",
    });
    expect(first.text("agent_message_chunk")).toContain("It says from-the-tool.");
    const calls = first.updates.filter(({ toolCallId }) => toolCallId);
    expect(calls.at(0)).toMatchObject({ sessionUpdate: "tool_call", kind: "execute" });
    expect(calls.at(-1)).toMatchObject({ status: "completed", _meta: { terminal_exit: { exit_code: 0 } } });
    expect(JSON.stringify(calls)).toContain("from-the-tool");
    expect(first.updates.find(({ sessionUpdate }) => sessionUpdate === "usage_update")).toMatchObject({
      size: 100_000,
    });

    const cancelled = first.request("session/prompt", prompt(sessionId, "wait"));
    await first.seen((update) => JSON.stringify(update).includes("begun\\n"));
    first.notify("session/cancel", { sessionId });
    expect(await cancelled).toEqual({ stopReason: "cancelled" });
    expect(await first.close()).toBe(0);

    const second = await connected();
    const { sessions } = await second.request("session/list", { cwd: tau.cwd });
    expect(sessions).toMatchObject([{ sessionId, title: "what is there?" }]);
    await second.request("session/load", { sessionId, cwd: tau.cwd, mcpServers: [] });
    expect(second.text("user_message_chunk")).toBe("what is there?wait");
    expect(second.text("agent_message_chunk")).toBe("I look.It says from-the-tool.");
    expect(await second.request("session/prompt", prompt(sessionId, "and now?"))).toEqual({ stopReason: "end_turn" });
    expect(second.text("agent_message_chunk")).toContain("Still here.");
    server.assertDone();
  });

  it("R179 loads a session at once that another process still holds, and one in which nothing was said", async () => {
    await serve([{ content: ["one"] }, { content: ["two"] }]);
    const client = await connected();
    const { sessionId } = await client.request("session/new", { cwd: tau.cwd, mcpServers: [] });
    await ready(client);
    // The process of the session is told to end, and the next one is started in the same moment.
    const load = async () => {
      const before = client.updates.length;
      await client.request("session/load", { sessionId, cwd: tau.cwd, mcpServers: [] });
      await ready(client, before);
    };
    await load();
    await client.request("session/prompt", prompt(sessionId, "first"));
    await load();
    await client.request("session/prompt", prompt(sessionId, "second"));
    const { sessions } = await client.request("session/list", { cwd: tau.cwd });
    expect(sessions).toMatchObject([{ sessionId }]);
    expect(server.requests[1]?.raw).toContain("first");
    server.assertDone();
  });

  it("R293 shows why a mistyped command came to nothing, although pi-acp passes refusals over", async () => {
    await serve([]);
    const client = await connected();
    const { sessionId } = await client.request("session/new", { cwd: tau.cwd, mcpServers: [] });
    await ready(client);
    await client.request("session/prompt", prompt(sessionId, "/skill:nosuch do it"));
    await client.seen((update) => JSON.stringify(update).includes("nosuch"));
    expect(client.text("agent_message_chunk")).toContain("nosuch");
  });
});
