import { reasonOf } from "./thrown.ts";
/** Why the shell of the setting `shellPath` cannot be used, with the remedy; undefined when it can. */
export async function shellProblem(
  configured: string,
  env: Readonly<Record<string, string>>,
): Promise<string | undefined> {
  const { findShell } = await import("./shell.ts");
  try {
    findShell(configured, env);
    return undefined;
  } catch (error) {
    return reasonOf(error);
  }
}
