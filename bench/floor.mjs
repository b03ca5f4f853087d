// The floor: the least that an honest agent can do. Chat completions over node:http with keep-alive, one shell tool,
// the history as an array that is sent whole. Every figure of the bench is a ratio to this client in the same run.
//   node floor.mjs <base url> <prompt> [history.json]
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { Agent, request } from "node:http";

if (process.argv[2] === "--version") {
  console.log("floor");
  process.exit(0);
}
const [, , baseUrl, prompt, historyFile] = process.argv;
const agent = new Agent({ keepAlive: true, maxSockets: 1 });
const bash = {
  name: "bash",
  description: "Run a command",
  parameters: { type: "object", properties: { command: { type: "string" } } },
};
const history = historyFile ? JSON.parse(readFileSync(historyFile, "utf8")) : [];
const messages = [{ role: "system", content: "You are an agent." }, ...history, { role: "user", content: prompt }];

function take(frame, answer) {
  if (!frame.startsWith("data: {")) return;
  const delta = JSON.parse(frame.slice(6)).choices[0]?.delta ?? {};
  answer.content += delta.content ?? "";
  for (const part of delta.tool_calls ?? []) {
    answer.calls[part.index] ??= {
      id: part.id,
      type: "function",
      function: { name: part.function.name, arguments: "" },
    };
    answer.calls[part.index].function.arguments += part.function.arguments ?? "";
  }
}

function ask() {
  const body = JSON.stringify({
    model: "bench",
    stream: true,
    messages,
    tools: [{ type: "function", function: bash }],
  });
  const headers = { "content-type": "application/json", "content-length": Buffer.byteLength(body) };
  return new Promise((resolve, reject) => {
    const sent = request(`${baseUrl}/chat/completions`, { method: "POST", agent, headers }, (response) => {
      const answer = { content: "", calls: [] };
      let rest = "";
      response.setEncoding("utf8");
      response.on("data", (chunk) => {
        const frames = (rest + chunk).split("\n\n");
        rest = frames.pop();
        for (const frame of frames) take(frame, answer);
      });
      response.on("end", () => resolve(answer));
      response.on("error", reject);
    });
    sent.on("error", reject);
    sent.end(body);
  });
}

function run(command) {
  const child = spawn("/bin/bash", ["-c", command], { stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  for (const pipe of [child.stdout, child.stderr]) pipe.on("data", (chunk) => (output += chunk));
  return new Promise((resolve) => child.on("close", () => resolve(output || "(no output)")));
}

for (;;) {
  const { content, calls } = await ask();
  if (calls.length === 0) {
    process.stdout.write(`${content}\n`);
    break;
  }
  messages.push({ role: "assistant", content: null, tool_calls: calls });
  for (const call of calls) {
    const { command } = JSON.parse(call.function.arguments);
    messages.push({ role: "tool", tool_call_id: call.id, content: await run(command ?? "true") });
  }
}
agent.destroy();
