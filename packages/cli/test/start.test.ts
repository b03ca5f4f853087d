import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { answer, MODEL, testBed } from "./bed.ts";

const bed = testBed();

/** Modules of Node that cost milliseconds of every start and that an answer without tools has no use for. */
const HEAVY = ["crypto", "child_process", "worker_threads", "dgram", "http2", "zlib"];

describe("the start", () => {
  it("loads nothing that a plain answer does not need", async () => {
    await bed.serve([answer("ok")]);
    const listed = join(bed.tau.root, "modules.json");
    const preload = bed.tau.file(
      "list.cjs",
      `process.on("exit", () => require("fs").writeFileSync(${JSON.stringify(listed)}, JSON.stringify(process.moduleLoadList)));`,
    );
    const run = await bed.tau.run(["-p", ...MODEL, "hello"], { env: { NODE_OPTIONS: `--require=${preload}` } });
    expect(run.code).toBe(0);
    const loaded: string[] = JSON.parse(readFileSync(listed, "utf8"));
    expect(loaded).toContain("NativeModule fs");
    expect(HEAVY.filter((name) => loaded.includes(`NativeModule ${name}`))).toEqual([]);
  });
});
