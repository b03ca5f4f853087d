import { parentPort } from "node:worker_threads";
import { outputPipes } from "../output-pipe.ts";

/** Says which kind of pipe commands get here, after it was read to its end once. */
async function run(): Promise<void> {
  const pipe = await outputPipes.open();
  if (pipe) {
    const ended = new Promise<void>((resolve) => {
      pipe.read(() => undefined, resolve);
    });
    pipe.closeWriter();
    await ended;
  }
  parentPort?.postMessage(pipe ? "fifo" : "sockets");
  // Stays until it is terminated, as a server of sessions would.
  parentPort?.on("message", () => undefined);
}

void run();
