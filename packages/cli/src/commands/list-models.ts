import { discoverLocalServers, type Environment } from "@tau/host";
import type { Model } from "@tau/llm";
import type { CliArgs } from "../args.ts";
import { readConfiguration } from "../configuration.ts";
import { EXIT } from "../exit-codes.ts";
import { tell } from "../tell.ts";

/** `--list-models [search]`: the models that could be asked now; with none of them, all that there are. */
export async function listModels(args: CliArgs, environment: Environment): Promise<number> {
  const { registry, offline, warnings } = await readConfiguration(args, environment);
  for (const warning of warnings) tell(`warning: ${warning}`);
  const isReal = ({ api }: Model) => api !== "scripted";
  if (!offline && !(await registry.available()).some(isReal)) registry.addProviders(await discoverLocalServers());
  const usable = await registry.available();
  const search = (args.listModels ?? "").toLowerCase();
  const provider = args.texts.provider?.[0];
  const found = usable.filter(
    (model) =>
      (provider === undefined || model.provider === provider) &&
      `${model.provider}/${model.id} ${model.name}`.toLowerCase().includes(search),
  );
  if (found.length > 0) process.stdout.write(`${table(found)}\n`);
  if (!usable.some(isReal))
    tell("no provider has a key: set one such as ANTHROPIC_API_KEY, or add a provider to models.json");
  else if (found.length === 0) tell(`no model fits "${args.listModels}"`);
  return EXIT.done;
}

function table(models: readonly Model[]): string {
  const rows = models.map((model) => [
    `${model.provider}/${model.id}`,
    count(model.contextWindow),
    count(model.maxTokens),
    model.reasoning ? "yes" : "no",
    model.input.includes("image") ? "yes" : "no",
    model.api === "scripted" ? "a script, not a model" : "",
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

/** Tokens as people say them: 128k, 1M. */
function count(tokens: number): string {
  if (tokens >= 1_000_000) return `${Number((tokens / 1_000_000).toFixed(1))}M`;
  return tokens >= 1000 ? `${Math.round(tokens / 1000)}k` : String(tokens);
}
