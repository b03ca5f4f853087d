import { type ExportRequest, type ExportResult, exportSession } from "../export/export-session.ts";
import { childVariables } from "../platform/child-variables.ts";
import type { Environment } from "../platform/environment.ts";
import type { Configuration } from "./configuration.ts";

/** Writes an export; the working directory and the secrets to mask are this program's. */
export type ExportHere = (request: Omit<ExportRequest, "cwd" | "secrets">) => Promise<ExportResult>;

/** Exports with the user's own keys masked, also in sessions that were recorded before they were known. */
export function exporter({ registry, settings }: Configuration, environment: Environment): ExportHere {
  const { variables, depth, cwd } = environment;
  const { secrets } = childVariables({
    variables,
    secretNames: registry.secretVariables(),
    keep: settings.keepEnv,
    depth,
  });
  return (request) => exportSession({ ...request, cwd, secrets: [...secrets, ...registry.literalKeys()] });
}
