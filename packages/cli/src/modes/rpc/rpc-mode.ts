import { resolve } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { SessionLockedError, type SessionStore } from "@tau/host";
import {
  type AssembledSession,
  announcedSession,
  type Environment,
  expandPrompt,
  expandTilde,
  exporter,
  LineOutput,
  type OpenedSession,
  promptCommands,
  type SessionFactory,
  SessionHost,
  serveRpc,
} from "@tau/host/program";
import type { CliArgs } from "../../arguments/args.ts";
import { UsageError } from "../../arguments/usage-error.ts";
import { tell } from "../../output/tell.ts";
import { boot } from "../../process/boot.ts";
import { EXIT, SIGNAL_EXIT } from "../../process/exit-codes.ts";
import { listenForSignals } from "../../process/signals.ts";

/**
 * How long a session's writer may take to let go of it, in milliseconds: clients end one server and start the next
 * one on the same session without waiting in between. An end takes up to a grace for tools and one for processes.
 */
const HANDOVER_MS = 2_500;
const HANDOVER_POLL_MS = 50;

/** `--mode rpc`: serves the session to the program at stdin and stdout until stdin ends; gives the exit code. */
export async function runRpc(args: CliArgs, environment: Environment, version: string): Promise<number> {
  const signals = listenForSignals();
  checkArguments(args);
  const { factory, first } = await boot(args, environment, (made) => firstStore(args, made, environment));
  for (const warning of first.warnings) tell(`warning: ${warning}`);
  const stop = new AbortController();
  signals.handle({ stop: () => stop.abort(), endNow: factory.endNow });
  await serveRpc({
    sessions: sessionHost(first, factory, { args, environment }),
    services: {
      version,
      availableModels: () => factory.configuration.registry.available(),
      exportHtml: pageWriter(factory, environment),
    },
    input: process.stdin,
    output: new LineOutput(process.stdout, () => stop.abort()),
    signal: stop.signal,
  });
  return signals.received ? SIGNAL_EXIT[signals.received] : EXIT.done;
}

/** Writes a page where the client says, or under the session's name into the working directory. */
function pageWriter({ configuration }: SessionFactory, environment: Environment) {
  const write = exporter(configuration, environment);
  return async (store: SessionStore, to: string | undefined): Promise<string> => {
    const { path } = await write({ from: store, format: "html", ...(to !== undefined && { to }) });
    return path ?? "";
  };
}

function checkArguments(args: CliArgs): void {
  if (args.flags.has("resume")) throw new UsageError("--resume needs a terminal; use --continue or --session <id>");
  if (args.files.length > 0 || args.messages.length > 0) {
    throw new UsageError("with --mode rpc prompts come by stdin: send a prompt command instead of an argument");
  }
}

interface Start {
  readonly args: CliArgs;
  readonly environment: Environment;
}

function sessionHost(
  first: AssembledSession,
  { open, place, configuration }: SessionFactory,
  { args, environment }: Start,
): SessionHost {
  const opened = (started: AssembledSession): OpenedSession => {
    const { session, store, warnings, resources } = started;
    const expand = (text: string) => expandPrompt(text, resources);
    const commands = promptCommands(resources, configuration, environment.userHome);
    return { session, store, warnings, commands, expand };
  };
  return new SessionHost(opened(first), {
    open: async (store, inUse) => opened(await open(store, inUse)),
    ...(!args.flags.has("no-session") && { sessionsDir: place.sessionsDir }),
  });
}

async function firstStore(args: CliArgs, factory: SessionFactory, { userHome }: Environment): Promise<SessionStore> {
  const { place } = factory;
  const given = args.texts.session?.[0];
  // What get_state named may not be written yet: clients keep the name and come back with it.
  const announced = given && announcedSession(resolve(place.cwd, expandTilde(given, userHome)), place);
  if (announced) return announced;
  const deadline = performance.now() + HANDOVER_MS;
  for (;;) {
    try {
      return factory.openStore();
    } catch (error) {
      if (!(error instanceof SessionLockedError) || performance.now() > deadline) throw error;
      await wait(HANDOVER_POLL_MS);
    }
  }
}
