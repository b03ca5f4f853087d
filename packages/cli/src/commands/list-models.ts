import { defaultModel, discoverLocalServers, type Environment, readConfiguration } from "@tau/host/program";
import type { Model } from "@tau/llm";
import type { CliArgs } from "../arguments/args.ts";
import { assemblyInput } from "../arguments/assembly-input.ts";
import { show } from "../output/show.ts";
import { tell } from "../output/tell.ts";
import { terminalText } from "../output/terminal-text.ts";
import { EXIT } from "../process/exit-codes.ts";

/**
 * `--list-models [search]`: the models that could be asked now; with a search all that fit, best first, with what the
 * others lack.
 */
export async function listModels(args: CliArgs, environment: Environment): Promise<number> {
  const configuration = await readConfiguration(assemblyInput(args), environment);
  const { registry, warnings } = configuration;
  for (const warning of warnings) tell(`warning: ${warning}`);
  if ((await registry.firstUsable()) === undefined) registry.addProviders(await discoverLocalServers());
  const usable = new Set((await registry.available()).map(({ provider }) => provider));
  const search = args.listModels ?? "";
  const provider = args.texts.provider?.[0];
  const found = (await registry.search(search)).filter(
    (model) => (search !== "" || usable.has(model.provider)) && (provider ?? model.provider) === model.provider,
  );
  const chosen = await defaultModel(configuration);
  if (found.length > 0) await show(`${table(found, { usable, chosen })}\n`);
  else {
    const what = search === "" ? "can be used now" : `fits "${search}"`;
    const where = provider === undefined ? "" : ` of the provider "${provider}"`;
    tell(`no model${where} ${what}; tau --list-models shows those that could be used now`);
  }
  if ((await registry.firstUsable()) === undefined) {
    tell("no provider has a key: set one such as ANTHROPIC_API_KEY, or add a provider to models.json");
  }
  return EXIT.done;
}

interface Marks {
  /** Providers that could be asked now. */
  readonly usable: ReadonlySet<string>;
  /** What a new session begins with. */
  readonly chosen: Model | undefined;
}

function table(models: readonly Model[], marks: Marks): string {
  const rows = models.map((model) => [
    // An id comes from a server, which may be anybody's.
    terminalText(`${model.provider}/${model.id}`).replace(/\s+/g, " "),
    count(model.contextWindow),
    count(model.maxTokens),
    model.reasoning ? "yes" : "no",
    model.input.includes("image") ? "yes" : "no",
    noteOf(model, marks),
  ]);
  const all = [["model", "context", "output", "thinking", "images", ""], ...rows];
  const widths = all[0]?.map((_, column) => Math.max(...all.map((row) => row[column]?.length ?? 0))) ?? [];
  return all
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}

function noteOf(model: Model, { usable, chosen }: Marks): string {
  if (model.provider === chosen?.provider && model.id === chosen.id) return "default";
  if (model.api === "scripted") return "a script, not a model";
  return usable.has(model.provider) ? "" : "no key";
}

/** Tokens as people say them: 128k, 1M. */
function count(tokens: number): string {
  if (tokens >= 1_000_000) return `${Number((tokens / 1_000_000).toFixed(1))}M`;
  return tokens >= 1000 ? `${Math.round(tokens / 1000)}k` : String(tokens);
}
