import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { request } from "node:http";
import { fileURLToPath } from "node:url";

const now = () => Number(process.hrtime.bigint()) / 1e6;
const POLL_MS = 5;

/** Starts the model server; `post` and `get` speak JSON with it. */
export async function startServer() {
  const child = spawn(process.execPath, [fileURLToPath(new URL("model-server.mjs", import.meta.url))], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const port = await new Promise((resolve) => child.stdout.once("data", (text) => resolve(String(text).trim())));
  const call = (method, path, body) =>
    new Promise((resolve, reject) => {
      const sent = request({ host: "127.0.0.1", port, path, method }, (response) => {
        let text = "";
        response.on("data", (chunk) => (text += chunk));
        response.on("end", () => resolve(JSON.parse(text)));
      });
      sent.on("error", reject);
      sent.end(body && JSON.stringify(body));
    });
  return {
    url: `http://127.0.0.1:${port}/v1`,
    post: (path, body) => call("POST", path, body),
    get: (path) => call("GET", path),
    stop: () => child.kill(),
  };
}

/** High-water mark of a process's resident memory in MB; undefined where /proc does not tell. */
function peakMb(pid) {
  try {
    const line = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8"));
    return line ? Number(line[1]) / 1024 : undefined;
  } catch {
    return undefined; // gone already, or no /proc on this system
  }
}

/** Runs a command to its end: `{ started, wallMs, code, rssMb, output }`. */
export function measure(command, { cwd, env }) {
  return new Promise((resolve) => {
    const started = now();
    const child = spawn(command[0], command.slice(1), { cwd, env, stdio: ["ignore", "pipe", "pipe"] });
    let rssMb = 0;
    let output = "";
    const keep = (chunk) => {
      if (output.length < 4000) output += chunk;
    };
    child.stdout.on("data", keep);
    child.stderr.on("data", keep);
    const poll = setInterval(() => {
      rssMb = Math.max(rssMb, peakMb(child.pid) ?? 0);
    }, POLL_MS);
    child.on("close", (code) => {
      clearInterval(poll);
      resolve({ started, wallMs: now() - started, code, rssMb, output });
    });
  });
}

export const median = (values) => {
  const sorted = values.filter((value) => Number.isFinite(value)).sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
};
