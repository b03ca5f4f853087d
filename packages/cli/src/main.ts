#!/usr/bin/env node
import { VERSION } from "./version.ts";

const argv = process.argv.slice(2);

if (argv.length === 1 && (argv[0] === "--version" || argv[0] === "-v")) {
  console.log(VERSION);
} else {
  const debug = Boolean(process.env.TAU_DEBUG);
  const crash = (error: unknown) => {
    const message = error instanceof Error ? (debug && error.stack) || error.message : String(error);
    console.error(`tau: ${message}${debug ? "" : " (TAU_DEBUG=1 shows more)"}`);
    process.exit(1);
  };
  process.on("uncaughtException", crash);
  process.on("unhandledRejection", crash);
  const { runProgram } = await import("./program.ts");
  process.exit(await runProgram({ argv, env: process.env }));
}
