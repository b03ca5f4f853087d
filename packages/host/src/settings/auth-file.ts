import { statSync } from "node:fs";
import type { StoredCredential } from "@tau/llm";
import { configError } from "./config-error.ts";
import { isObject, type JsonObject, readJsonFile } from "./json-file.ts";
import { normalSecret } from "./secret-text.ts";

export interface AuthFile {
  readonly path: string;
  /** By provider id. */
  readonly credentials: Readonly<Record<string, StoredCredential>>;
  /** Every secret in the file, to be masked where a tool shows it. */
  readonly secrets: readonly string[];
  readonly warnings: readonly string[];
}

/** Reads auth.json; nothing here writes it. Others being able to read it is worth a warning, not a refusal. */
export async function readAuthFile(path: string): Promise<AuthFile> {
  const file = await readJsonFile(path);
  const credentials: Record<string, StoredCredential> = {};
  const warnings: string[] = [];
  if (file && process.platform !== "win32" && (statSync(path).mode & 0o077) !== 0) {
    warnings.push(`${path} can be read by other users; run: chmod 600 ${path}`);
  }
  for (const [provider, value] of Object.entries(file ?? {})) {
    const credential = readCredential(value);
    if (!credential) {
      throw configError("credential_invalid", { path, provider });
    }
    credentials[provider] = credential;
  }
  const logins = Object.entries(credentials).filter(([, { type }]) => type === "oauth");
  if (logins.length > 0) {
    const names = logins.map(([provider]) => `"${provider}"`).join(", ");
    warnings.push(`${path}: the login of ${names} cannot be used by tau, which has no logins yet; use an API key`);
  }
  const secrets = Object.values(file ?? {}).flatMap((value) => (isObject(value) ? textsOf(value) : []));
  return { path, credentials, secrets, warnings };
}

function readCredential(value: unknown): StoredCredential | undefined {
  if (typeof value === "string" && value !== "") return { type: "api_key", key: normalSecret(value) };
  if (!isObject(value)) return undefined;
  const { type, key, access, env } = value;
  if (typeof access === "string" && type === "oauth") return { type };
  if (typeof key !== "string" || key === "") return undefined;
  const variables = isObject(env)
    ? Object.entries(env).filter((pair): pair is [string, string] => typeof pair[1] === "string")
    : [];
  return {
    type: "api_key",
    key: normalSecret(key),
    ...(variables.length > 0 && { env: Object.fromEntries(variables) }),
  };
}

function textsOf({ key, access, refresh }: JsonObject): string[] {
  return [key, access, refresh].filter((text): text is string => typeof text === "string" && !/^[$!]/.test(text));
}
