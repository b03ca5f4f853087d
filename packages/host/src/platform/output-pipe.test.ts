import { once } from "node:events";
import { closeSync, fstatSync, mkdtempSync, openSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { buildProgram } from "../store/__fixtures__/child-program.ts";

const dir = mkdtempSync(join(tmpdir(), "tau-pipe-test-"));
let program = "";
beforeAll(async () => {
  const source = new URL("./__fixtures__/commands-in-worker.ts", import.meta.url).href;
  program = await buildProgram(source, join(dir, "worker.mjs"));
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

describe("pipes of commands", () => {
  it("R256 a worker thread that ends closes no descriptor of others", async () => {
    const worker = new Worker(program);
    await once(worker, "message");
    // These take the numbers that became free in the worker.
    const mine = Array.from({ length: 200 }, () => openSync("/dev/null", "r"));
    await worker.terminate();
    const closed = mine.filter((descriptor) => {
      try {
        fstatSync(descriptor);
        closeSync(descriptor);
        return false;
      } catch {
        return true;
      }
    });
    expect(closed).toEqual([]);
  });
});
