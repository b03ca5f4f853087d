import { readFileSync } from "node:fs";
import {
  thinking,
  toolCall,
  type WireApi,
  type WireReply,
  type WireRequest,
  type WireServer,
  wireServer,
} from "@tau/llm/testing";
import { afterEach, describe, expect, it } from "vitest";
import { answer, bash, testBed } from "./bed.ts";

const bed = testBed();
const servers: WireServer[] = [];
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()));
});

interface Place {
  provider: string;
  api: WireApi;
  steps: readonly WireReply[] | ((request: WireRequest) => WireReply);
}

/** Servers with a provider each, model `m`; each refuses signatures that it did not give out. */
async function serve(...places: readonly Place[]): Promise<void> {
  const providers: Record<string, object> = {};
  for (const { provider, api, steps } of places) {
    const server = await wireServer({ steps, checkSignatures: true });
    servers.push(server);
    const models = [{ id: "m", reasoning: true, input: ["text", "image"] }];
    providers[provider] = { baseUrl: `${server.url}/v1`, api, apiKey: `${provider}-key-12345`, models };
  }
  bed.tau.file("home/.tau/models.json", { providers });
}

const ask = (model: string, ...args: string[]) =>
  bed.tau.run(["-p", "--model", model, "--session-id", "s", "--thinking", "low", ...args]);

type Item = { type?: string; output?: unknown };
const requests = (server: number) => servers[server]?.requests ?? [];
/** The input of each request. */
const inputs = (server: number) => requests(server).map(({ body }) => body.input as Item[]);

describe("a model of the Responses API", () => {
  it("R031 answers, calls tools and continues with its reasoning, in a later process as well", async () => {
    const think = (text: string, command: string): WireReply => ({
      content: [thinking(text, `enc ${text}`), toolCall("bash", { command })],
    });
    await serve({
      provider: "x",
      api: "openai-responses",
      steps: [think("one", "echo hi"), answer("first"), answer("second")],
    });
    const first = await ask("x/m", "go");
    expect([first.code, first.stdout, first.stderr]).toEqual([0, "first\n", ""]);
    expect((await ask("x/m", "on")).stdout).toBe("second\n");
    servers[0]?.assertDone();
    const [begin] = requests(0);
    expect(begin?.body).toMatchObject({ store: false, reasoning: { effort: "low" }, prompt_cache_key: "s" });
    expect(begin?.headers.authorization).toBe("Bearer x-key-12345");
    expect(inputs(0)[2]).toMatchObject([
      { role: "user", content: "go" },
      { type: "reasoning", encrypted_content: "enc one" },
      { type: "function_call", name: "bash", arguments: '{"command":"echo hi"}' },
      { type: "function_call_output", output: "hi" },
      { type: "message", content: [{ text: "first" }] },
      { role: "user", content: "on" },
    ]);
  });

  it.each([
    ["final output", true],
    ["no final output", false],
  ])("R031 a stream without item-done events, with %s", async (_title, full) => {
    const item = { type: "function_call", id: "fc_1", call_id: "call_1", name: "bash" };
    const whole = { ...item, status: "completed", arguments: '{"command":"echo whole > out.txt"}' };
    const frames = [
      { type: "response.created", response: { id: "r", status: "in_progress" } },
      { type: "response.output_item.added", output_index: 0, item: { ...item, arguments: "" } },
      {
        type: "response.function_call_arguments.delta",
        output_index: 0,
        item_id: "fc_1",
        delta: '{"command":"echo wh',
      },
      { type: "response.completed", response: { id: "r", status: "completed", output: full ? [whole] : [] } },
    ];
    const body = frames.map((frame) => `event: ${frame.type}\ndata: ${JSON.stringify(frame)}\n\n`).join("");
    await serve({
      ...{ provider: "x", api: "openai-responses" },
      steps: [{ content: [], wire: { mode: "raw", body } }, answer("done")],
    });
    const { code, stdout } = await ask("x/m", "go");
    expect([code, stdout]).toEqual([0, "done\n"]);
    servers[0]?.assertDone();
    const [, call, result] = inputs(0)[1] ?? [];
    expect(call).toMatchObject({ call_id: "call_1", arguments: full ? whole.arguments : "{}" });
    if (full) expect(readFileSync(`${bed.tau.cwd}/out.txt`, "utf8")).toBe("whole\n");
    else {
      expect(result?.output).toContain("before the arguments of this call were whole");
      expect(() => readFileSync(`${bed.tau.cwd}/out.txt`)).toThrow("ENOENT");
    }
  });

  it("R019 retries what failed inside a 200 and runs no tool twice", async () => {
    bed.tau.file("home/.tau/settings.json", { retry: { maxRetries: 3, baseDelayMs: 1 } });
    const broken: WireReply = { ...bash("echo ran >> log"), errorMessage: "The server had an error" };
    const error = { code: "server_error", message: "Overloaded" };
    const midway: WireReply = { ...answer("half"), wire: { mode: "error", afterDeltas: 1, error } };
    await serve({
      provider: "x",
      api: "openai-responses",
      steps: [broken, midway, bash("echo ran >> log"), answer("done")],
    });
    expect((await ask("x/m", "go")).stdout).toBe("done\n");
    servers[0]?.assertDone();
    expect(readFileSync(`${bed.tau.cwd}/log`, "utf8")).toBe("ran\n");
  });

  it("R005 a reply cut at the limit runs no tool, and the model is asked again", async () => {
    const cut: WireReply = { ...bash("echo ran >> log"), stopReason: "length" };
    await serve({ provider: "x", api: "openai-responses", steps: [cut, answer("done")] });
    expect((await ask("x/m", "go")).stdout).toBe("done\n");
    expect(() => readFileSync(`${bed.tau.cwd}/log`)).toThrow("ENOENT");
  });

  it("R029 a session continues with models of other APIs and comes back, each sees its own reasoning only", async () => {
    const steps = () => {
      let asked = 0;
      return (): WireReply =>
        ++asked % 2 === 1 ? { content: [thinking("hm"), toolCall("bash", { command: "echo hi" })] } : answer("done");
    };
    await serve(
      { provider: "responses", api: "openai-responses", steps: steps() },
      { provider: "chat", api: "openai-completions", steps: steps() },
      { provider: "messages", api: "anthropic-messages", steps: steps() },
      { provider: "other", api: "openai-responses", steps: steps() },
    );
    for (const provider of ["responses", "chat", "responses", "messages", "other", "responses", "chat"]) {
      const { code, stdout, stderr } = await ask(`${provider}/m`, "go");
      expect([provider, code, stdout, stderr]).toEqual([provider, 0, "done\n", ""]);
    }
    for (const server of servers) server.assertDone();
    const kept = inputs(0).map((input) => JSON.stringify(input).split('"encrypted_content"').length - 1);
    expect(kept).toEqual([0, 1, 1, 2, 2, 3]);
  });

  it("shows images from tool results to a model that takes them behind the results", async () => {
    const png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
    bed.tau.file("work/a.b64", png);
    const look: WireReply = { content: [toolCall("read", { path: "a.png" })] };
    await serve({
      provider: "x",
      api: "openai-responses",
      steps: [bash("base64 -d a.b64 > a.png"), look, answer("seen")],
    });
    expect((await ask("x/m", "look")).stdout).toBe("seen\n");
    servers[0]?.assertDone();
    expect(JSON.stringify(inputs(0)[2])).toContain('"type":"input_image","detail":"auto","image_url":"data:image/');
  });
});

it("lists OpenAI's models with a key in the environment, those of the Responses API among them", async () => {
  const { code, stdout } = await bed.tau.run(["--list-models"], { env: { OPENAI_API_KEY: "sk-test-12345678" } });
  expect(code).toBe(0);
  for (const id of ["gpt-4.1", "gpt-5.3-codex", "gpt-5.4-pro", "o3"])
    expect(stdout).toMatch(new RegExp(`^openai/${id} `, "m"));
});
