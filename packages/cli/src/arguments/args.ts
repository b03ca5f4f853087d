import { parseArgs } from "node:util";
import { nearNames } from "@tau/host/program";
import { type CommandName, commandIn } from "./command-words.ts";
import { OPTIONS, type OptionRow } from "./options.ts";
import { UsageError } from "./usage-error.ts";

/** The command line, taken apart and checked one option at a time. */
export interface CliArgs {
  /** The command in first place: `tau demo`. */
  readonly command: CommandName | undefined;
  readonly print: boolean;
  readonly mode: "text" | "json" | "rpc" | undefined;
  /** The search text of --list-models; undefined when it was not given. */
  readonly listModels: string | undefined;
  /** The session of --export, and the file it goes to when one is named. */
  readonly exported: { readonly from: string; readonly to: string | undefined } | undefined;
  readonly help: boolean;
  readonly version: boolean;
  readonly flags: ReadonlySet<string>;
  readonly texts: Readonly<Record<string, readonly string[]>>;
  readonly numbers: Readonly<Record<string, number>>;
  /** `@file` arguments without the `@`. */
  readonly files: readonly string[];
  readonly messages: readonly string[];
}

/** Option names by every spelling that is accepted. */
const BY_SPELLING = new Map<string, OptionRow>(
  OPTIONS.flatMap((option) => [
    [`--${option.name}`, option] as const,
    ...(option.short ?? []).map((short) => [`-${short}`, option] as const),
  ]),
);

const CANNOT_COMBINE: readonly (readonly [string, string])[] = [
  ["fork", "session"],
  ["fork", "continue"],
  ["fork", "resume"],
  ["fork", "no-session"],
  ["session-id", "session"],
  ["session-id", "continue"],
  ["session-id", "resume"],
  ["session", "continue"],
  ["session", "no-session"],
  ["continue", "no-session"],
  ["no-tools", "tools"],
  ["no-builtin-tools", "tools"],
  ["approve", "no-approve"],
  ...["print", "mode", "session", "continue", "resume", "fork", "session-id", "no-session", "list-models"].map(
    (other) => ["export", other] as const,
  ),
];

/** Reads the arguments after `node tau`. Throws UsageError (exit 2) that names what is wrong and the remedy. */
export function readArgs(argv: readonly string[]): CliArgs {
  const command = commandIn(argv);
  const found = collect(command ? argv.slice(1) : argv);
  for (const [a, b] of CANNOT_COMBINE) {
    if (found.given.has(a) && found.given.has(b))
      throw new UsageError(`--${a} and --${b} cannot go together; leave one out`);
  }
  const mode = found.texts.mode?.[0];
  const permission = found.texts.permission?.[0];
  if (permission !== undefined && permission !== "yolo") throw notBuilt(`--permission ${permission}`);
  const listModels = found.given.has("list-models");
  const exported = exportOf(found);
  const hasPrompt = !listModels && !exported;
  return {
    command,
    print: found.flags.has("print"),
    mode: mode === "json" || mode === "rpc" || mode === "text" ? mode : undefined,
    listModels: listModels ? found.positionals.join(" ") : undefined,
    exported,
    help: command === "help" || found.flags.has("help"),
    version: command === "version" || found.flags.has("version"),
    flags: found.flags,
    texts: found.texts,
    numbers: found.numbers,
    files: hasPrompt ? found.positionals.filter(isFile).map((text) => text.slice(1)) : [],
    messages: hasPrompt ? found.positionals.filter((text) => !isFile(text) && text.trim() !== "") : [],
  };
}

function exportOf({ texts, positionals }: Found): CliArgs["exported"] {
  const from = texts.export?.[0];
  if (from === undefined) return undefined;
  if (positionals.length > 1) {
    throw new UsageError("--export takes one session and one file: --export <path|id> [out]; quote a name with spaces");
  }
  return { from, to: positionals[0] };
}

interface Found {
  readonly given: Set<string>;
  readonly flags: Set<string>;
  readonly texts: Record<string, string[]>;
  readonly numbers: Record<string, number>;
  readonly positionals: string[];
}

function collect(argv: readonly string[]): Found {
  const found: Found = { given: new Set(), flags: new Set(), texts: {}, numbers: {}, positionals: [] };
  const { tokens } = parseArgs({
    args: expandShortForms(argv),
    options: Object.fromEntries(OPTIONS.map(toParseOption)),
    strict: false,
    allowPositionals: true,
    tokens: true,
  });
  for (const token of tokens) {
    if (token.kind === "positional") found.positionals.push(token.value);
    if (token.kind === "option") accept(found, token);
  }
  return found;
}

interface OptionToken {
  readonly rawName: string;
  readonly value: string | undefined;
  readonly inlineValue: boolean | undefined;
}

function accept(found: Found, { rawName, value, inlineValue }: OptionToken): void {
  const option = BY_SPELLING.get(rawName);
  if (!option) throw unknownOption(rawName);
  if (option.later) throw notBuilt(`--${option.name}`);
  found.given.add(option.name);
  if (option.value.kind === "flag") {
    if (option.name === "list-models" && value !== undefined) found.positionals.push(value);
    else if (inlineValue) throw new UsageError(`--${option.name} takes no value; leave out "=${value ?? ""}"`);
    found.flags.add(option.name);
    return;
  }
  const given = checkedText(option, value, inlineValue === true);
  if (option.value.kind === "number") found.numbers[option.name] = checkedNumber(option, given);
  else found.texts[option.name] = option.repeat ? [...(found.texts[option.name] ?? []), given] : [given];
}

function checkedText(option: OptionRow, value: string | undefined, inline: boolean): string {
  const { name } = option;
  const shown = option.value.kind === "flag" ? "" : option.value.shown;
  // "--name --model x" is a forgotten value; "--append-system-prompt '- be brief'" is not.
  if (value === undefined || (!inline && /^--?[a-zA-Z]/.test(value) && BY_SPELLING.has(value.split("=")[0] ?? ""))) {
    throw new UsageError(`--${name} needs a value: --${name} ${shown}`);
  }
  const { choices, mayBeEmpty = false } = option.value.kind === "text" ? option.value : { choices: undefined };
  if (value.trim() === "" && option.value.kind === "text" && !mayBeEmpty) {
    throw new UsageError(`--${name} needs a value, and this one is empty: --${name} ${shown}`);
  }
  if (choices && !choices.includes(value)) {
    throw new UsageError(`--${name} must be one of ${choices.join(", ")}, not "${value}"`);
  }
  return value;
}

function checkedNumber(option: OptionRow, text: string): number {
  if (option.value.kind !== "number") return Number.NaN;
  const { least, whole, above = false } = option.value;
  const value = /^\d+(\.\d+)?$/.test(text.trim()) ? Number(text) : Number.NaN;
  const tooSmall = above ? value <= least : value < least;
  if (!Number.isFinite(value) || tooSmall || (whole && !Number.isSafeInteger(value))) {
    const kind = whole ? "a whole number" : "a number";
    const wants = `${kind} ${above ? "above" : "of at least"} ${least}`;
    throw new UsageError(`--${option.name} must be ${wants}, not "${text}": --${option.name} ${option.value.shown}`);
  }
  return value;
}

/**
 * Turns `-nt` and its like, which parseArgs would read as `-n t`, into their long names. Letters of flags may stand
 * together (`-pc`); no letter takes its value glued on, since `-nbt` for `-n bt` would be a typing error that nobody sees.
 */
function expandShortForms(argv: readonly string[]): string[] {
  const end = argv.indexOf("--");
  return argv.map((word, index) => {
    // The value of the option before may begin with a dash, as "- be brief" does; one word of letters does not.
    if ((end !== -1 && index >= end) || !/^-[a-zA-Z]{2,}$/.test(word)) return word;
    const option = BY_SPELLING.get(word);
    if (option) return `--${option.name}`;
    const isFlag = (letter: string) => BY_SPELLING.get(`-${letter}`)?.value.kind === "flag";
    if (![...word.slice(1)].every(isFlag)) throw unknownOption(word);
    return word;
  });
}

function toParseOption(option: OptionRow) {
  const short = option.short?.find((name) => name.length === 1);
  const type = option.value.kind === "flag" ? ("boolean" as const) : ("string" as const);
  return [option.name, { type, multiple: true, ...(short ? { short } : {}) }] as const;
}

function isFile(text: string): boolean {
  return text.length > 1 && text.startsWith("@");
}

function notBuilt(what: string): UsageError {
  return new UsageError(`${what} is not available yet in this version; see tau --help for what is`);
}

function unknownOption(name: string): UsageError {
  const known = OPTIONS.filter(({ later }) => !later);
  const isShort = !name.startsWith("--");
  const spellings = isShort
    ? known.flatMap(({ short = [] }) => short.filter((each) => each.length > 1))
    : known.map((option) => option.name);
  const [near] = nearNames(name.replace(/^-+/, ""), spellings, 1);
  const hint = near ? `did you mean ${isShort ? "-" : "--"}${near}?` : "see tau --help.";
  return new UsageError(`unknown option ${name}: ${hint} A prompt that begins with a dash goes after "--".`);
}
