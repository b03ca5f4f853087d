import { cpSync, existsSync, mkdtempSync, realpathSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { RunOutcome, SessionEvent } from "@tau/host";
import type { Environment } from "@tau/host/program";
import { type AssistantMessage, DEMO_PROMPT } from "@tau/llm";
import { type CliArgs, readArgs } from "../arguments/args.ts";
import { UsageError } from "../arguments/usage-error.ts";
import { failureOf } from "../modes/outcome.ts";
import { progressLine } from "../modes/print/progress.ts";
import { tell } from "../output/tell.ts";
import { type Booted, boot } from "../process/boot.ts";
import { EXIT, SIGNAL_EXIT } from "../process/exit-codes.ts";
import { listenForSignals, type Signals } from "../process/signals.ts";
import { runSampleTest } from "./sample-test.ts";

/** Where the sample project is, seen from the bundle, from its chunks, and from the sources. */
const SAMPLE_PLACES = ["./sample", "../sample", "../../sample"];

/**
 * `tau demo`: the main job without a model. A copy of the sample project, whose test fails, is fixed by the scripted
 * model through the real tools, in a session that is kept. The exit code is 0 only when the test is green afterwards,
 * which is seen by running it, not by what the script says.
 */
export async function runDemo(args: CliArgs, environment: Environment): Promise<number> {
  if (args.messages[0] === "loop") return (await import("./loop-demo/loop-demo.ts")).runLoopDemo();
  const [unknown] = [...args.messages, ...args.files];
  if (unknown !== undefined) throw new UsageError(`tau demo takes nothing or the word loop, not "${unknown}"`);
  const signals = listenForSignals();
  const folder = copySample();
  const before = await runSampleTest(folder, environment);
  say(`The sample project is copied to ${folder}. Its test: ${before.summary}`);
  say(`Now tau fixes it. The model is a script (scripted/demo); the tools, the edit and the test run are real.\n`);
  const booted = await boot(demoArgs(args), { ...environment, cwd: folder, logicalCwd: folder });
  const outcome = await play(booted, signals);
  const after = await runSampleTest(folder, environment);
  say(`\nThe test now: ${after.summary}\nProject: ${folder}\nSession: ${booted.first.store.path ?? "not kept"}`);
  if (signals.received) return SIGNAL_EXIT[signals.received];
  const failure = failureOf(outcome);
  if (failure) tell(failure.message);
  else if (!after.green) tell("the demo did not fix the sample; please report this");
  return failure?.exitCode ?? (after.green ? EXIT.done : EXIT.failed);
}

async function play({ first, factory }: Booted, signals: Signals): Promise<RunOutcome> {
  const { session } = first;
  signals.handle({ stop: () => void session.abort(), endNow: factory.endNow });
  session.subscribe(show);
  try {
    say(`> ${DEMO_PROMPT}\n`);
    return await session.prompt(DEMO_PROMPT);
  } finally {
    await session.dispose();
  }
}

/** Options that say where the session goes hold; the model and the tools are the demo's own. */
function demoArgs(args: CliArgs): CliArgs {
  const folder = args.texts["session-dir"]?.[0];
  const kept = [
    ...(folder === undefined ? [] : ["--session-dir", folder]),
    ...(args.flags.has("no-session") ? ["--no-session"] : []),
  ];
  return readArgs(["--model", "scripted/demo", "--no-context-files", "--no-skills", "--name", "tau demo", ...kept]);
}

function copySample(): string {
  const here = fileURLToPath(new URL(".", import.meta.url));
  const source = SAMPLE_PLACES.map((place) => join(here, place)).find((place) =>
    existsSync(join(place, "package.json")),
  );
  if (source === undefined) throw new Error(`the sample project is missing beside ${here}: install tau again`);
  const folder = join(realpathSync(mkdtempSync(join(tmpdir(), "tau-demo-"))), "price-list");
  cpSync(source, folder, { recursive: true });
  return folder;
}

function show(event: SessionEvent): void {
  const line = progressLine(event);
  if (line !== undefined) say(`  ${line}`);
  if (event.type === "message_end" && event.message.role === "assistant") say(textOf(event.message));
}

function textOf({ content }: AssistantMessage): string {
  return content.map((block) => (block.type === "text" ? block.text : "")).join("");
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}
