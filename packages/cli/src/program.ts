import { ConfigError, SessionFileError, SessionLockedError } from "@tau/host";
import { encodeLine, LineOutput, readEnvironment, sameDirectory } from "@tau/host/program";
import { type CliArgs, readArgs } from "./arguments/args.ts";
import { UsageError } from "./arguments/usage-error.ts";
import { errorRecord } from "./modes/json/json-mode.ts";
import { runPrompts } from "./modes/run-prompts.ts";
import { show } from "./output/show.ts";
import { tell } from "./output/tell.ts";
import { EXIT } from "./process/exit-codes.ts";
import { dieByCode } from "./process/signals.ts";
import { TimeLimitError } from "./process/time-limit.ts";
import { userHome } from "./process/user-home.ts";

/** What the program is started with; nothing below reads the process's own. */
export interface Invocation {
  /** Arguments behind the script's name. */
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly version: string;
}

/** Runs the program; gives the exit code when all is written. Failures are reported here, in one line each. */
export async function runProgram(invocation: Invocation): Promise<number> {
  const { argv, env } = invocation;
  try {
    const code = await dispatch(readArgs(argv), invocation);
    dieByCode(code);
    return code;
  } catch (error) {
    const exitCode = exitCodeOf(error);
    const message = error instanceof Error ? error.message : String(error);
    if (env.TAU_DEBUG && error instanceof Error) console.error(error.stack);
    // The reader of a JSON stream learns of every failure from the stream, also of one before the first event (R177).
    if (asksForJson(argv)) await writeErrorRecord(message, exitCode);
    tell(message);
    return exitCode;
  }
}

async function dispatch(args: CliArgs, { env, version }: Invocation): Promise<number> {
  if (args.help) return showAll((await import("./arguments/help.ts")).helpText());
  if (args.version) return showAll(`${version}\n`);
  const environment = readEnvironment(env, { userHome: userHome(env), cwd: workingDirectory(), sameDirectory });
  if (args.command === "demo") return (await import("./commands/demo.ts")).runDemo(args, environment);
  if (args.command === "sessions") return (await import("./commands/sessions.ts")).runSessions(args, environment);
  if (args.flags.has("json"))
    throw new UsageError("--json goes with tau sessions; --mode json gives the events of a run");
  if (args.listModels !== undefined) return (await import("./commands/list-models.ts")).listModels(args, environment);
  if (args.exported) return (await import("./commands/export.ts")).runExport(args.exported, args, environment);
  if (args.mode === "rpc") return (await import("./modes/rpc/rpc-mode.ts")).runRpc(args, environment, version);
  return runPrompts(args, environment);
}

function workingDirectory(): string {
  try {
    return process.cwd();
  } catch {
    throw new UsageError("the working directory does not exist any more; change to another one");
  }
}

async function showAll(text: string): Promise<number> {
  await show(text);
  return EXIT.done;
}

function exitCodeOf(error: unknown): number {
  if (error instanceof TimeLimitError) return EXIT.limit;
  const isMistakeOfUse = [UsageError, ConfigError, SessionFileError, SessionLockedError].some(
    (kind) => error instanceof kind,
  );
  return isMistakeOfUse ? EXIT.usage : EXIT.failed;
}

/** Looked for in the raw arguments: they may be what is wrong. */
function asksForJson(argv: readonly string[]): boolean {
  const end = argv.indexOf("--");
  const options = end === -1 ? argv : argv.slice(0, end);
  return options.some((word, index) => {
    const mode = word === "--mode" ? options[index + 1] : /^--mode=(.*)$/.exec(word)?.[1];
    return mode === "json" || mode === "rpc";
  });
}

/** Stderr has the message in any case, so it does not matter when this one does not get out. */
async function writeErrorRecord(message: string, exitCode: number): Promise<void> {
  const output = new LineOutput(process.stdout);
  await output.write(encodeLine(errorRecord(message, exitCode)));
  await output.flush();
}
