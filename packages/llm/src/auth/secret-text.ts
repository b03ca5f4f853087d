import type { Environment } from "./environment-keys.ts";

/** What a written secret may draw on; nothing of the process is read here. */
export interface SecretContext {
  environment: Environment;
  /** Runs a shell command and gives its standard output; rejects when it fails. */
  runCommand?: (command: string) => Promise<string>;
}

export type SecretValue = { value: string } | { problem: string };

const WHOLE_NAME = /^\$([A-Za-z_][A-Za-z0-9_]*)$/;
const BRACED_NAME = /\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g;

/**
 * A secret as it is written in models.json or auth.json: `$NAME` or text with `${NAME}` takes variables, `!command`
 * the output of a command without its spaces at the ends, `$$` and `!!` at the start stand for one of them, anything
 * else is the secret itself.
 */
export async function resolveSecret(text: string, context: SecretContext): Promise<SecretValue> {
  if (text.startsWith("$$") || text.startsWith("!!")) return { value: text.slice(1) };
  if (text.startsWith("!")) return commandOutput(text.slice(1).trim(), context);
  const whole = WHOLE_NAME.exec(text)?.[1];
  const names = whole ? [whole] : [...text.matchAll(BRACED_NAME)].flatMap(([, name]) => (name ? [name] : []));
  const unset = names.find((name) => !context.environment[name]?.trim());
  if (unset) return { problem: `the environment variable ${unset} is not set` };
  if (whole) return filled(context.environment[whole] ?? "");
  return filled(text.replace(BRACED_NAME, (_, name: string) => context.environment[name]?.trim() ?? ""));
}

/** The variables that a written secret takes. */
export function secretVariables(text: string): string[] {
  if (text.startsWith("!") || text.startsWith("$$")) return [];
  const whole = WHOLE_NAME.exec(text)?.[1];
  if (whole) return [whole];
  return [...text.matchAll(BRACED_NAME)].flatMap(([, name]) => (name ? [name] : []));
}

async function commandOutput(command: string, { runCommand }: SecretContext): Promise<SecretValue> {
  if (!runCommand) return { problem: "its command cannot be run here" };
  try {
    return filled(await runCommand(command), "its command gave nothing");
  } catch (error) {
    // Only the first line: what a secret manager writes on failure can be long.
    const said = error instanceof Error ? error.message : String(error);
    return { problem: `its command failed: ${said.split("\n")[0] ?? ""}` };
  }
}

function filled(value: string, problem = "it is empty"): SecretValue {
  const trimmed = value.trim();
  return trimmed === "" ? { problem } : { value: trimmed };
}

/** Runs each command once for the life of the process; one that failed may be tried again. */
export function runEachCommandOnce(
  runCommand: (command: string) => Promise<string>,
): (command: string) => Promise<string> {
  const running = new Map<string, Promise<string>>();
  return (command) => {
    const known = running.get(command);
    if (known) return known;
    const output = runCommand(command);
    running.set(command, output);
    output.catch(() => running.delete(command));
    return output;
  };
}
