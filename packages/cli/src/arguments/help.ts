import { GROUPS, OPTIONS, type OptionRow } from "./options.ts";

const COLUMN = 34;

const HEAD = `tau, a coding agent for the terminal

Usage:
  tau [options] [--] [@files...] [messages...]
  tau demo [loop]
  tau sessions [search] [--json]
  tau help

Examples:
  tau -p "why does the test in test/parse.test.ts fail?"
  git diff | tau -p "review this"
  tau -p @screenshot.png @src/menu.css "what is wrong here?"
  tau -p "add a test for parse()" "now run it"    two messages are two prompts, one after the other
  tau -p -c "fix what it found"                   continues the newest session of this folder
  tau sessions parser                             the sessions that fit a word, newest first
  tau demo                                        a real run with a scripted model, without a key
  tau demo loop                                   one tool round trip, its events and their fingerprint

The model needs a key (ANTHROPIC_API_KEY, OPENAI_API_KEY, ... or --api-key), a local server, or models.json.
With a redirected stdin or stdout and no mode, -p is meant. Piped stdin, then the @files (text or images), go before
the first message; each further message is sent when the one before is answered, and only the last answer is printed.
`;

const TAIL = `
Files: TAU_DIR (default ~/.tau) holds settings.json, models.json, auth.json, AGENTS.md, sessions/, skills/, prompts/.
Environment: TAU_DIR, TAU_OFFLINE=1, TAU_DEBUG=1, NO_COLOR, HTTPS_PROXY, HTTP_PROXY, NO_PROXY, NODE_EXTRA_CA_CERTS,
and the providers' key variables, such as ANTHROPIC_API_KEY and OPENAI_API_KEY.
Exit codes: 0 done, 1 the run failed, 2 usage or configuration, 3 a limit was reached, 4 denied,
130 interrupted, 143 terminated, 129 hung up.
`;

/** The text of --help: all options that exist now, by group. */
export function helpText(): string {
  const groups = GROUPS.map((group) => {
    const rows = OPTIONS.filter((option) => option.group === group && !option.later).map(helpLine);
    return `\n${group}:\n${rows.join("\n")}\n`;
  });
  return `${HEAD}${groups.join("")}${TAIL}`;
}

function helpLine(option: OptionRow): string {
  const short = (option.short ?? []).map((name) => `-${name}, `).join("");
  const left = `  ${short}--${option.name} ${shownValue(option)}`.trimEnd();
  const gap = left.length < COLUMN ? " ".repeat(COLUMN - left.length) : `\n${" ".repeat(COLUMN)}`;
  return `${left}${gap}${option.help}${option.repeat ? " (repeatable)" : ""}`;
}

/** A value that is only good for a mode that is not built yet is not shown. */
function shownValue(option: OptionRow): string {
  if (option.name === "permission") return "yolo";
  return option.value.shown ?? "";
}
