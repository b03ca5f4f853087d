#!/usr/bin/env node
import { writeSync } from "node:fs";

declare global {
  // Set by the bundler (scripts/build.mjs); absent when the sources run unbundled.
  var TAU_VERSION: string | undefined;
}

// Here and not in a module of its own: one file less to load.
const version = globalThis.TAU_VERSION ?? "0.0.0-dev";
const argv = process.argv.slice(2);

if (isTooOld(process.version)) {
  console.error(
    `tau: Node 20.19 or newer is needed, and this is ${process.version}; install one from https://nodejs.org`,
  );
  process.exitCode = 2;
} else if (argv.length === 1 && (argv[0] === "--version" || argv[0] === "-v")) {
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
  // By itself Node opens its inspector on this signal, which any command of this user could send (R309).
  if (process.platform !== "win32") process.on("SIGUSR1", () => undefined);
  process.on("uncaughtException", crash);
  process.on("unhandledRejection", crash);
  // Nothing is left that could end the run: not an end that may look like one.
  process.once("beforeExit", () => crash(new Error("the run stopped before its end; please report this")));
  // Without await: the bundle is CommonJS, which has none at the top level.
  import("./program.ts").then(async ({ runProgram }) => {
    process.exit(await runProgram({ argv, env: process.env, version }));
  }, crash);
}

/** Older ones lack what is used, and would fail in the middle with an error that says nothing. */
function isTooOld(running: string): boolean {
  const [major = 0, minor = 0] = running.slice(1).split(".").map(Number);
  return major < 20 || (major === 20 && minor < 19);
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
