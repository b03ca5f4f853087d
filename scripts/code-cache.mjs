import { rmSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { measure, startServer } from "../bench/process.mjs";
import { createWorkspace } from "../bench/workspace.mjs";

const preload = fileURLToPath(new URL("save-code.cjs", import.meta.url));

/**
 * Makes the code cache of a chunk: runs the built command once, against a model server of its own on loopback. Where
 * that cannot be, there is none, and the command starts a little later.
 */
export async function makeCodeCache(tau, chunk) {
  const cache = `${chunk}.${process.version}-${process.arch}.cache`;
  // The loader looks for a cache first; an empty one is refused.
  writeFileSync(cache, "");
  try {
    await runOnce(tau);
  } catch (error) {
    rmSync(cache);
    console.error(`built without a code cache: ${error.message}`);
  }
}

async function runOnce(tau) {
  const server = await startServer();
  const space = createWorkspace(server.url);
  try {
    await server.post("/plan", { turns: 1 });
    const command = [
      process.execPath,
      "--require",
      preload,
      tau,
      "-p",
      "--no-session",
      "--model",
      "bench/bench",
      "hello",
    ];
    const env = { PATH: process.env.PATH, HOME: space.home, TAU_DIR: space.home, TAU_OFFLINE: "1" };
    const { code, output } = await measure(command, { cwd: space.cwd, env });
    if (code !== 0) throw new Error(`the built command ended with ${code}: ${output}`);
  } finally {
    server.stop();
    rmSync(space.root, { recursive: true, force: true });
  }
}
