import { ExportError, type ExportResult } from "@tau/host";
import {
  type Environment,
  exporter,
  LineOutput,
  readConfiguration,
  sessionPath,
  sessionsDirectory,
} from "@tau/host/program";
import type { CliArgs } from "../arguments/args.ts";
import { assemblyInput } from "../arguments/assembly-input.ts";
import { UsageError } from "../arguments/usage-error.ts";
import { tell, unwritable } from "../output/tell.ts";
import { EXIT, SIGNAL_EXIT } from "../process/exit-codes.ts";
import { listenForSignals } from "../process/signals.ts";

type Exported = NonNullable<CliArgs["exported"]>;

/**
 * `--export <in> [out]`: writes a session as a page or as Markdown. The path of what was written is all that stdout
 * gets, or the export itself for `-`; the session may be in use.
 */
export async function runExport(exported: Exported, args: CliArgs, environment: Environment): Promise<number> {
  const signals = listenForSignals();
  const stop = new AbortController();
  signals.handle({ stop: () => stop.abort(), endNow: () => undefined });
  const output = new LineOutput(process.stdout, () => stop.abort());
  try {
    const result = await write({ exported, args, environment, output, signal: stop.signal });
    for (const warning of result.warnings) tell(`warning: ${warning}`);
    if (result.path !== undefined) await output.write(`${result.path}\n`);
    await output.flush();
    if (output.failure) throw unwritable(output.failure);
    tell(`exported ${size(result.bytes)}; it may contain private content: look through it before you share it`);
    return EXIT.done;
  } catch (error) {
    if (signals.received) return SIGNAL_EXIT[signals.received];
    if (output.failure) throw unwritable(output.failure);
    if (output.closed) return EXIT.done;
    if (error instanceof ExportError && error.code !== "unwritable") throw new UsageError(error.message);
    throw error;
  }
}

interface Work {
  readonly exported: Exported;
  readonly args: CliArgs;
  readonly environment: Environment;
  readonly output: LineOutput;
  readonly signal: AbortSignal;
}

async function write({ exported, args, environment, output, signal }: Work): Promise<ExportResult> {
  const input = assemblyInput(args);
  const configuration = await readConfiguration(input, environment);
  const sessionsDir = sessionsDirectory(input.session ?? {}, configuration, environment);
  const from = sessionPath(exported.from, { cwd: environment.cwd, sessionsDir });
  const { to } = exported;
  if (to !== undefined && /[/\\]$/.test(to))
    throw new UsageError(`--export: ${to} is the name of a folder; give the name of a file, such as ${to}session.html`);
  const run = exporter(configuration, environment);
  if (to === "-") return run({ from, signal, format: "html", to: (text) => output.write(text) });
  return run({ from, signal, ...(to !== undefined && { to }) });
}

function size(bytes: number): string {
  if (bytes < 1_000_000) return `${Math.ceil(bytes / 1000)} kB`;
  return `${(bytes / 1_000_000).toFixed(1)} MB`;
}
