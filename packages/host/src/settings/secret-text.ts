/**
 * A key or a header of a configuration file in the one spelling that `@tau/llm` resolves. The ecosystem also writes
 * `$NAME` inside a text and `$!` for an exclamation mark in front.
 */
export function normalSecret(text: string): string {
  if (text.startsWith("$!")) return `!${text.slice(1)}`;
  if (text.startsWith("!") || text.startsWith("$$") || /^\$\w+$/.test(text)) return text;
  return text.replace(/\$([A-Za-z_]\w*)/g, (_, name: string) => `\${${name}}`);
}

/** Whether the secret is the output of a command, which is run at the time of a request only. */
export function isCommand(text: string): boolean {
  return text.startsWith("!") && !text.startsWith("!!");
}

/** Whether the secret is the text itself. */
export function isLiteral(text: string): boolean {
  return !isCommand(text) && !/^\$\w|\$\{/.test(text);
}

/** How long a command may take, in milliseconds. A key store that asks the user needs some seconds. */
const TIMEOUT_MS = 30_000;
const MAX_SAID = 200;

/**
 * Runs a command of a configuration file by the shell, without input; gives its output. Rejects when it fails, with how
 * it ended and the first line of what it said on stderr: the reason, where later ones are hints and traces.
 */
export async function runSecretCommand(command: string, variables: Readonly<Record<string, string>>): Promise<string> {
  const { execFile } = await import("node:child_process");
  const [file, ...flags] = process.platform === "win32" ? ["cmd.exe", "/d", "/s", "/c"] : ["/bin/sh", "-c"];
  return new Promise((resolve, reject) => {
    const options = { timeout: TIMEOUT_MS, env: variables, maxBuffer: 1 << 20 };
    const child = execFile(file ?? "/bin/sh", [...flags, command], options, (error, stdout, stderr) => {
      if (!error) return resolve(stdout);
      const end = error.killed
        ? `it took longer than ${TIMEOUT_MS / 1000} s`
        : `it ended with ${error.signal ?? `exit code ${error.code}`}`;
      const said = stderr.trim().split("\n")[0]?.trim().slice(0, MAX_SAID) ?? "";
      reject(new Error(said === "" ? end : `${end} and said "${said}"`));
    });
    child.stdin?.end();
  });
}
