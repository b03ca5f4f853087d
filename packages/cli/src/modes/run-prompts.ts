import type { RunEnding, RunOutcome } from "@tau/host";
import { type AssembledSession, type Environment, expandPrompt, LineOutput } from "@tau/host/program";
import type { CliArgs } from "../arguments/args.ts";
import { UsageError } from "../arguments/usage-error.ts";
import { type FileArguments, readFileArguments } from "../input/file-arguments.ts";
import { makePrompts, type Prompt } from "../input/first-prompt.ts";
import { readStdin, stdinKind } from "../input/stdin.ts";
import { tell, tellLine, unwritable } from "../output/tell.ts";
import { type Booted, boot } from "../process/boot.ts";
import { EXIT, SIGNAL_EXIT } from "../process/exit-codes.ts";
import { listenForSignals, type Signals } from "../process/signals.ts";
import { timeLimit } from "../process/time-limit.ts";
import { jsonMode } from "./json/json-mode.ts";
import type { Mode } from "./mode.ts";
import { failureOf } from "./outcome.ts";
import { closingLine } from "./print/closing-line.ts";
import { printMode } from "./print/print-mode.ts";

/** Runs the prompts of one invocation in print or JSON mode; gives the exit code. */
export async function runPrompts(args: CliArgs, environment: Environment): Promise<number> {
  const signals = listenForSignals();
  const kind = stdinKind();
  const hasPrompt = args.messages.length > 0 || args.files.length > 0;
  checkInvocation(args, { hasPrompt, interactive: kind === "terminal" && Boolean(process.stdout.isTTY) });
  const starting = boot(args, environment);
  const [stdin, booted] = await Promise.race([
    Promise.all([readStdin({ kind, hasPrompt, notice: tell }), starting]),
    starting.then(({ first }) => timeLimit(first.maxSeconds)),
  ]);
  const { session, resources, toolEnvironment: tools, model } = booted.first;
  try {
    const files = await readFileArguments(args.files, { tools, model, base: environment });
    const messages = args.messages.map((text) => expandPrompt(text, resources));
    const prompts = promptsOf(stdin, files, messages);
    const warnings = [...booted.first.warnings, ...files.warnings];
    return await runAll({ args, environment, booted, prompts, signals, warnings });
  } finally {
    await session.dispose();
  }
}

function checkInvocation(
  args: CliArgs,
  { hasPrompt, interactive }: { hasPrompt: boolean; interactive: boolean },
): void {
  if (args.flags.has("resume")) {
    throw new UsageError(
      "--resume is not available yet in this version; tau sessions lists the sessions, --continue or --session <id> opens one",
    );
  }
  if (interactive && !hasPrompt && !args.print && args.mode !== "json") {
    throw new UsageError('the interactive mode is not available yet in this version; give a prompt: tau -p "…"');
  }
}

function promptsOf(stdin: string | undefined, files: FileArguments, messages: readonly string[]): Prompt[] {
  const prompts = makePrompts(stdin, files, messages);
  if (prompts.length === 0)
    throw new UsageError('there is no prompt: give one as an argument, tau -p "…", or by stdin');
  return prompts;
}

interface Run {
  readonly args: CliArgs;
  readonly environment: Environment;
  readonly booted: Booted;
  readonly prompts: readonly Prompt[];
  readonly signals: Signals;
  readonly warnings: readonly string[];
}

async function runAll({ args, environment, booted, prompts, signals, warnings }: Run): Promise<number> {
  const { first: started, factory } = booted;
  const { session } = started;
  let readerGone = false;
  const output = new LineOutput(process.stdout, () => {
    readerGone = true;
    void session.abort();
  });
  signals.handle({
    stop(signal) {
      const again = signal === "SIGINT" ? "; press Ctrl-C again to end at once" : "";
      tell(`stopping on ${signal}${again}${isKept(started) ? '; continue it with: tau -c -p "continue"' : ""}`);
      void session.abort();
    },
    endNow: factory.endNow,
  });
  const outcomes: RunOutcome[] = [];
  const mode = createMode(args, environment, { started, output, signals, warnings, outcomes });
  session.subscribe((event) => mode.onEvent(event));
  const outcome = await sendAll(prompts, started, outcomes);
  await mode.finish();
  const unsaved = tellUnsaved(started);
  if (signals.received) return SIGNAL_EXIT[signals.received];
  if (output.failure) throw unwritable(output.failure);
  const exitCode = readerGone
    ? EXIT.done
    : (failureOf(outcome, { mistake: started.configFailure() })?.exitCode ?? EXIT.done);
  return exitCode === EXIT.done && unsaved ? EXIT.failed : exitCode;
}

/** Whether the session can be continued: it has a file, and the file has all of it (R108). */
function isKept({ store }: AssembledSession): boolean {
  return store.path !== undefined && store.recording.status === "ok";
}

/** Says that the session is not saved whole, which a script must be able to see by the exit code (R107). */
function tellUnsaved({ store }: AssembledSession): boolean {
  if (store.recording.status === "ok") return false;
  tell(`the session is not saved: ${store.recording.reason}; ${store.recording.unsaved} entries are lost`);
  return true;
}

/** One prompt after another; the first that does not end well is the last. */
async function sendAll(
  prompts: readonly Prompt[],
  { session }: AssembledSession,
  outcomes: RunOutcome[],
): Promise<RunEnding> {
  for (const { text, images } of prompts) {
    const outcome = await session.prompt(text, { images: [...images] });
    outcomes.push(outcome);
    if (outcome.status !== "done") break;
  }
  return outcomes.at(-1) ?? { status: "done" };
}

interface ModeParts {
  readonly started: AssembledSession;
  readonly output: LineOutput;
  readonly signals: Signals;
  readonly warnings: readonly string[];
  /** Filled while the prompts are sent. */
  readonly outcomes: readonly RunOutcome[];
}

function createMode(args: CliArgs, environment: Environment, parts: ModeParts): Mode {
  const { started, output, signals, warnings, outcomes } = parts;
  const resume = () => (isKept(started) ? `tau --session ${started.store.header.id} "continue"` : undefined);
  const context = () => ({ signal: signals.received, mistake: started.configFailure(), resume: resume() });
  for (const warning of warnings) tell(`warning: ${warning}`);
  const { header, path } = started.store;
  if (args.mode === "json") return jsonMode({ output, header, path, warnings, tell, context });
  const wanted = args.flags.has("verbose") || Boolean(process.stderr.isTTY);
  const dim = Boolean(process.stderr.isTTY) && environment.color !== false;
  const progress = (line: string) => tellLine(dim ? `\x1b[2m${line}\x1b[0m` : line);
  const contextFiles = started.resources.contextFiles.files.map(({ path }) => path);
  const onTerminal = Boolean(process.stderr.isTTY);
  const { session, store } = started;
  if (onTerminal) progress(`~ model: ${started.model.provider}/${started.model.id}`);
  if (wanted && contextFiles.length > 0) progress(`~ instructions: ${contextFiles.join(", ")}`);
  return printMode({
    output,
    toTerminal: Boolean(process.stdout.isTTY),
    tell,
    progress: wanted ? progress : undefined,
    context,
    ...(onTerminal && {
      closing: () =>
        closingLine({
          model: session.state.model,
          outcomes,
          milliseconds: performance.now(),
          sessionId: isKept(started) ? store.header.id : undefined,
        }),
    }),
  });
}
