import type { ProviderConfig } from "@tau/llm";
import type { UserModels } from "./models-file.ts";

/** The variables by which the vendors' own libraries find another server. */
const VARIABLES: Readonly<Record<string, string>> = { openai: "OPENAI_BASE_URL", anthropic: "ANTHROPIC_BASE_URL" };

export interface MovedModels {
  readonly models: UserModels;
  /** By provider: the variable that says where it is. */
  readonly movedBy: Readonly<Record<string, string>>;
}

/** The user's models with the addresses that the environment gives. A `baseUrl` in models.json comes first. */
export function withBaseUrls(models: UserModels, variables: Readonly<Record<string, string>>): MovedModels {
  const providers: Record<string, ProviderConfig> = { ...models.providers };
  const movedBy: Record<string, string> = {};
  const warnings: string[] = [];
  for (const [id, variable] of Object.entries(VARIABLES)) {
    const url = variables[variable]?.trim();
    if (!url || providers[id]?.baseUrl !== undefined) continue;
    if (/^https?:\/\/[^/\s]/i.test(url) && URL.canParse(url)) {
      providers[id] = { ...providers[id], baseUrl: url.replace(/(?<!\/)\/+$/, "") };
      movedBy[id] = variable;
    } else {
      warnings.push(`${variable} is not used: it must be a URL such as https://gateway.example.com/v1`);
    }
  }
  return { models: { ...models, providers, warnings: [...models.warnings, ...warnings] }, movedBy };
}
