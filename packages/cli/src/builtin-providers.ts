import type { BuiltinProvider } from "@tau/host";

/** The catalog and the scripted model. Loaded when models.json does not have what is looked for. */
export async function loadBuiltinProviders(): Promise<readonly BuiltinProvider[]> {
  return [];
}
