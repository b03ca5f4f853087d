// npm run bench [-- --only answer,turns200] [--no-install]
// Runs tau beside the floor client on one model server, the two in turn, and prints medians and ratios.
// `TAU=<file>` measures another built command, `PEERS=<folder>` a peer beside it (docs/bench.md). Timings are judged as
// ratios in one run only: machines are noisy.
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { installSize } from "./install-size.mjs";
import { findPeer } from "./peer.mjs";
import { measure, median, startServer } from "./process.mjs";
import { GROWTH, SCENARIOS } from "./scenarios.mjs";
import { createWorkspace } from "./workspace.mjs";

const { values } = parseArgs({ options: { only: { type: "string" }, "no-install": { type: "boolean" } } });
const cli = fileURLToPath(new URL("../packages/cli", import.meta.url));
const tau = process.env.TAU ?? join(cli, "dist/tau.js");
const floor = fileURLToPath(new URL("floor.mjs", import.meta.url));
if (!existsSync(tau)) {
  console.error(`${tau} is not built; run: npm run build`);
  process.exit(2);
}

const PROMPT = "Do the task step by step.";
const env = { PATH: process.env.PATH, HOME: process.env.HOME, LANG: "C.UTF-8", NO_COLOR: "1" };

function commandOf(client, { scenario, server, history, peer }) {
  const program = { floor: [process.execPath, floor], tau: [process.execPath, tau], peer: peer?.command }[client];
  if (scenario.version) return [...program, "--version"];
  if (client === "floor") return [...program, server.url, PROMPT, ...(history ? [history.plain] : [])];
  return [...program, "-p", "--model", "bench/bench", ...(history ? ["--session", history.session] : []), PROMPT];
}

async function runOnce(client, { scenario, server, space, peer }) {
  const history = scenario.messages ? space.history(scenario.messages) : undefined;
  if (scenario.plan) await server.post("/plan", scenario.plan);
  const command = commandOf(client, { scenario, server, history, peer });
  const own = client === "peer" ? peer.env : { TAU_DIR: space.home, TAU_OFFLINE: "1" };
  const result = await measure(command, { cwd: space.cwd, env: { ...env, ...own } });
  if (result.code !== 0) throw new Error(`${scenario.name}: ${client} ended with ${result.code}: ${result.output}`);
  return { ...result, log: scenario.plan ? await server.get("/log") : [] };
}

async function runScenario(scenario, tools) {
  const runs = Object.fromEntries(tools.clients.map((client) => [client, []]));
  for (let i = 0; i <= scenario.repeats; i++) {
    for (const client of tools.clients) {
      const run = await runOnce(client, { scenario, ...tools });
      if (i > 0 || scenario.repeats < 4) runs[client].push(run); // the first of many warms the disk cache
    }
  }
  return scenario.figures.map((figure) => row(figure, runs));
}

function row({ name, unit, of, limit, cap }, runs) {
  const values = Object.fromEntries(Object.entries(runs).map(([client, list]) => [client, median(list.map(of))]));
  const ratio = values.tau / values.floor;
  const goal = limit ? `<= ${limit} x` : cap ? `<= ${cap} ${unit}` : "";
  const reached = limit ? ratio <= limit : cap ? values.tau <= cap : undefined;
  return { name, unit, ...values, ratio, goal, reached };
}

const show = (value, unit) => (Number.isFinite(value) ? `${value.toFixed(value < 10 ? 2 : 0)} ${unit}` : "-");
function print(rows, peer) {
  const titles = ["what", "floor", "tau", "tau / floor", "goal", "reached", ...(peer ? ["peer", "tau / peer"] : [])];
  console.log(`| ${titles.join(" | ")} |\n|${"---|".repeat(titles.length)}`);
  for (const { name, unit, ratio, goal, reached, ...values } of rows) {
    const verdict = reached === undefined ? "" : reached ? "yes" : "no";
    const beside = peer ? [show(values.peer, unit), show(values.tau / values.peer, "x")] : [];
    const cells = [name, show(values.floor, unit), show(values.tau, unit), show(ratio, "x"), goal, verdict, ...beside];
    console.log(`| ${cells.join(" | ")} |`);
  }
  const load = existsSync("/proc/loadavg")
    ? `; load of the machine at the end: ${readFileSync("/proc/loadavg", "utf8").trim()}`
    : "";
  console.log(`\nNode ${process.version}${peer ? `; peer: ${peer.name}` : ""}${load}`);
}

function growthRows(rows) {
  const tauValue = (name) => rows.find((found) => found.name === name)?.tau;
  return GROWTH.filter(([, over, under]) => tauValue(over) && tauValue(under)).map(([name, over, under, cap]) => {
    const value = tauValue(over) / tauValue(under);
    return { name, unit: "x", tau: value, goal: `<= ${cap} x`, reached: value <= cap };
  });
}

function installRows(space) {
  const { megabytes, packages } = installSize(cli, space.root);
  return [
    { name: "installed from npm pack", unit: "MB", tau: megabytes, goal: "<= 25 MB", reached: megabytes <= 25 },
    { name: "installed packages", unit: "", tau: packages, goal: "<= 12", reached: packages <= 12 },
  ];
}

const only = values.only?.split(",");
const server = await startServer();
const space = createWorkspace(server.url);
try {
  const peer = process.env.PEERS && findPeer(process.env.PEERS, { home: space.root, url: server.url });
  if (process.env.PEERS && !peer)
    throw new Error(`there is no peer in ${process.env.PEERS}; docs/bench.md says how to install one`);
  const clients = ["floor", "tau", ...(peer ? ["peer"] : [])];
  const rows = [];
  for (const scenario of SCENARIOS.filter(({ name }) => !only || only.includes(name))) {
    process.stderr.write(`${scenario.name} ...\n`);
    rows.push(...(await runScenario(scenario, { server, space, peer, clients })));
  }
  rows.push(...growthRows(rows));
  if (!only && !values["no-install"]) rows.push(...installRows(space));
  print(rows, peer);
} finally {
  server.stop();
  rmSync(space.root, { recursive: true, force: true });
}
