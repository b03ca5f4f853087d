#!/usr/bin/env node
import { writeSync } from "node:fs";

declare global {
  // Set by the bundler (scripts/build.mjs); absent when the sources run unbundled.
  var TAU_VERSION: string | undefined;
}

// Here and not in a module of its own: one file less to load.
const version = globalThis.TAU_VERSION ?? "0.0.0-dev";
const argv = process.argv.slice(2);

if (argv.length === 1 && (argv[0] === "--version" || argv[0] === "-v")) {
  showVersion();
} else {
  const debug = Boolean(process.env.TAU_DEBUG);
  const crash = (error: unknown) => {
    // The reader of stdout is gone (R160): there is no one to tell, and it is not a failure.
    if (error instanceof Error && "code" in error && error.code === "EPIPE") process.exit(0);
    const message = error instanceof Error ? (debug && error.stack) || error.message : String(error);
    console.error(`tau: ${message}${debug ? "" : " (TAU_DEBUG=1 shows more)"}`);
    process.exit(1);
  };
  process.on("uncaughtException", crash);
  process.on("unhandledRejection", crash);
  // Nothing is left that could end the run: not an end that may look like one.
  process.once("beforeExit", () => crash(new Error("the run stopped before its end; please report this")));
  // Without await: the bundle is CommonJS, which has none at the top level.
  import("./program.ts").then(async ({ runProgram }) => {
    process.exit(await runProgram({ argv, env: process.env, version }));
  }, crash);
}

function showVersion(): void {
  try {
    writeSync(1, `${version}\n`);
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "EPIPE") return;
    console.error(`tau: cannot write to stdout: ${error instanceof Error ? error.message : String(error)}`);
    process.exitCode = 1;
  }
}
