// A model server that plays one plan for chat completions and notes when each request arrived and when its answer ended.
// Times are CLOCK_MONOTONIC milliseconds, so that the driver's process can compare them with its own.
//   POST /plan {turns, deltas, argumentBytes}   GET /log
import { createServer } from "node:http";

const now = () => Number(process.hrtime.bigint()) / 1e6;
const EVENTS_A_WRITE = 64;
let plan = {};
let log = [];
let turn = 0;

const frame = (delta, finish = null) =>
  `data: ${JSON.stringify({ id: "b", choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
const usage = (bytes) =>
  `data: ${JSON.stringify({ choices: [], usage: { prompt_tokens: bytes >> 2, completion_tokens: 10, total_tokens: (bytes >> 2) + 10 } })}\n\ndata: [DONE]\n\n`;
const toolDelta = (call) => frame({ tool_calls: [{ index: 0, ...call }] });

function* callEvents() {
  yield toolDelta({ id: `call_${turn}`, type: "function", function: { name: "bash", arguments: "" } });
  const note = plan.argumentBytes ? { note: "n".repeat(plan.argumentBytes) } : {};
  const text = JSON.stringify({ command: `true ${turn}`, ...note });
  const size = plan.argumentBytes ? 4 : text.length;
  for (let at = 0; at < text.length; at += size)
    yield toolDelta({ function: { arguments: text.slice(at, at + size) } });
  yield frame({}, "tool_calls");
}

function* textEvents() {
  for (let i = 0; i < (plan.deltas ?? 1); i++) yield frame({ content: i % 12 === 11 ? "line en\n" : "a word, " });
  yield frame({}, "stop");
}

async function answer(response, bytes) {
  response.writeHead(200, { "content-type": "text/event-stream" });
  let batch = frame({ role: "assistant", content: "" });
  let count = 0;
  for (const event of turn++ < (plan.turns ?? 0) ? callEvents() : textEvents()) {
    batch += event;
    if (++count % EVENTS_A_WRITE !== 0) continue;
    if (!response.write(batch)) await new Promise((resolve) => response.once("drain", resolve));
    batch = "";
  }
  response.end(batch + usage(bytes));
}

const routes = {
  "/plan": (body, response) => {
    plan = JSON.parse(body);
    log = [];
    turn = 0;
    response.end("{}");
  },
  "/log": (_body, response) => response.end(JSON.stringify(log)),
};

const server = createServer((request, response) => {
  const arrived = now();
  const chunks = [];
  request.on("data", (chunk) => chunks.push(chunk));
  request.on("end", async () => {
    const body = Buffer.concat(chunks);
    const route = routes[request.url];
    if (route) return route(body.toString(), response);
    const entry = { arrived, bytes: body.length };
    log.push(entry);
    if (log.length === 1) entry.body = body.length < 100_000 ? body.toString() : undefined;
    await answer(response, body.length);
    entry.ended = now();
  });
});
server.listen(0, "127.0.0.1", () => console.log(server.address().port));
