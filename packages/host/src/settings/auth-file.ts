import { statSync } from "node:fs";
import { ConfigError } from "./config-error.ts";
import { isObject, readJsonFile } from "./json-file.ts";
import { parseSecretValue, type SecretValue } from "./secret-value.ts";

/** One saved credential. */
export type Credential =
  | { readonly type: "api_key"; readonly key: SecretValue }
  | { readonly type: "oauth"; readonly access: string; readonly refresh: string | undefined; readonly expires: number };

export interface AuthFile {
  readonly path: string;
  /** By provider id. */
  readonly credentials: Readonly<Record<string, Credential>>;
  readonly warnings: readonly string[];
}

/** Reads auth.json; nothing here writes it. Others being able to read it is worth a warning, not a refusal. */
export async function readAuthFile(path: string): Promise<AuthFile> {
  const file = await readJsonFile(path);
  const credentials: Record<string, Credential> = {};
  const warnings: string[] = [];
  if (file && process.platform !== "win32" && (statSync(path).mode & 0o077) !== 0) {
    warnings.push(`${path} can be read by other users; run: chmod 600 ${path}`);
  }
  for (const [provider, value] of Object.entries(file ?? {})) {
    const credential = readCredential(value);
    if (!credential)
      throw new ConfigError(`${path}: "${provider}" must be {"type": "api_key", "key": "…"}; correct or remove it`);
    credentials[provider] = credential;
  }
  return { path, credentials, warnings };
}

function readCredential(value: unknown): Credential | undefined {
  if (typeof value === "string" && value !== "") return { type: "api_key", key: parseSecretValue(value) };
  if (!isObject(value)) return undefined;
  if (typeof value.key === "string" && value.key !== "") return { type: "api_key", key: parseSecretValue(value.key) };
  if (typeof value.access !== "string") return undefined;
  return {
    type: "oauth",
    access: value.access,
    refresh: typeof value.refresh === "string" ? value.refresh : undefined,
    expires: typeof value.expires === "number" ? value.expires : Number.POSITIVE_INFINITY,
  };
}
