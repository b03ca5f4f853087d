import type { SessionStore } from "@tau/host";
import { type AssembledSession, type Environment, prepareSessions, type SessionFactory } from "@tau/host/program";
import type { CliArgs } from "../arguments/args.ts";
import { assemblyInput } from "../arguments/assembly-input.ts";

/** The program with its configuration read and its first session ready. */
export interface Booted {
  readonly factory: SessionFactory;
  readonly first: AssembledSession;
}

type OpenStore = (factory: SessionFactory) => SessionStore | Promise<SessionStore>;

/**
 * The way into every mode: configuration, store, model, tools, prompt. Throws ConfigError or an error of the store, each
 * with its remedy; nothing is on disk by then.
 *
 * @param openStore default: opens or makes the session that the arguments ask for
 */
export async function boot(
  args: CliArgs,
  environment: Environment,
  openStore: OpenStore = (factory) => factory.openStore(),
): Promise<Booted> {
  const factory = await prepareSessions(assemblyInput(args), environment);
  const first = await factory.open(await openStore(factory));
  return { factory, first };
}
