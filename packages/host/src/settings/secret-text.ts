/**
 * A key or a header of a configuration file in the one spelling that `@tau/llm` resolves. Pi also writes
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
