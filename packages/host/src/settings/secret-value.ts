import { ConfigError } from "./config-error.ts";

/**
 * A key or a header as it stands in a configuration file: a literal text, `$NAME` or `${NAME}` anywhere in it, or
 * `!command` as a whole; `$$` and `$!` stand for `$` and `!`.
 */
export type SecretValue = { readonly kind: "text"; readonly parts: readonly SecretPart[] } | CommandValue;

type SecretPart = { readonly text: string } | { readonly variable: string };

interface CommandValue {
  readonly kind: "command";
  readonly command: string;
}

/** How long a `!command` may take, in milliseconds. A key store that asks the user needs some seconds. */
const COMMAND_TIMEOUT_MS = 30_000;

const PIECE = /\$\$|\$!|\$\{([A-Za-z_]\w*)\}|\$([A-Za-z_]\w*)/g;

export function parseSecretValue(text: string): SecretValue {
  if (text.startsWith("!")) return { kind: "command", command: text.slice(1).trim() };
  const parts: SecretPart[] = [];
  let from = 0;
  for (const match of text.matchAll(PIECE)) {
    if (match.index > from) parts.push({ text: text.slice(from, match.index) });
    const variable = match[1] ?? match[2];
    parts.push(variable === undefined ? { text: match[0].slice(1) } : { variable });
    from = match.index + match[0].length;
  }
  if (from < text.length) parts.push({ text: text.slice(from) });
  return { kind: "text", parts };
}

/** The variables that a value reads. */
export function variablesOf(value: SecretValue): string[] {
  return value.kind === "command" ? [] : value.parts.flatMap((part) => ("variable" in part ? [part.variable] : []));
}

/** Whether the value can be had without running anything: false when a variable of it is not set. */
export function isSecretSet(value: SecretValue, variables: Readonly<Record<string, string>>): boolean {
  return value.kind === "command" ? value.command !== "" : variablesOf(value).every((name) => variables[name]);
}

export interface SecretContext {
  readonly variables: Readonly<Record<string, string>>;
  /** File and field, for messages: `models.json: providers.x.apiKey`. */
  readonly where: string;
}

/**
 * The value itself. A command runs now, by the shell, each time it is asked for, so that short-lived keys stay
 * fresh; its output without the line end is the value. Throws ConfigError that names the field and the remedy.
 */
export async function resolveSecretValue(value: SecretValue, context: SecretContext): Promise<string> {
  if (value.kind === "command") return runCommand(value.command, context);
  return value.parts
    .map((part) => {
      if ("text" in part) return part.text;
      const found = context.variables[part.variable];
      if (!found)
        throw new ConfigError(`${context.where} needs the variable ${part.variable}, which is not set: export it`);
      return found;
    })
    .join("");
}

async function runCommand(command: string, { where, variables }: SecretContext): Promise<string> {
  if (command === "") throw new ConfigError(`${where} has no command after "!"`);
  const { execFile } = await import("node:child_process");
  const shell = process.platform === "win32" ? ["cmd.exe", "/d", "/s", "/c"] : ["/bin/sh", "-c"];
  const [file = "/bin/sh", ...flags] = shell;
  return new Promise((resolve, reject) => {
    const options = { timeout: COMMAND_TIMEOUT_MS, env: variables, maxBuffer: 1 << 20 };
    const child = execFile(file, [...flags, command], options, (error, stdout, stderr) => {
      const key = stdout.replace(/[\r\n]+$/, "");
      if (!error && key !== "") return resolve(key);
      const why = error ? stderr.trim().split("\n").at(-1) || `exit code ${error.code ?? error.signal}` : "no output";
      reject(new ConfigError(`${where}: the command failed (${why}); run it by hand: ${command}`));
    });
    child.stdin?.end();
  });
}
