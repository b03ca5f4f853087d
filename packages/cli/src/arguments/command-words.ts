import { nearNames } from "@tau/host/program";
import { UsageError } from "./usage-error.ts";

/** Commands that exist. */
export type CommandName = "demo" | "sessions" | "help" | "version";

/** What the words behind a command look like; other words make a sentence of it, which is a prompt. */
type Shape = (words: readonly string[]) => boolean;

const any: Shape = () => true;
const atMost =
  (count: number): Shape =>
  (words) =>
    words.length <= count;
/** Nothing, or one of these words and what belongs to it. */
const oneOf =
  (...first: readonly string[]): Shape =>
  ([word, ...more]) =>
    word === undefined || first.includes(word) || (isSource(word) && more.length === 0);
/** Packages: each has a scheme or is a path. */
const sources: Shape = (words) => words.every(isSource);

function isSource(word: string): boolean {
  return /^(npm|git|https?|ssh|file):|[/\\]|^[.~@]/.test(word);
}

interface Word {
  readonly name: CommandName | undefined;
  readonly shape: Shape;
}

/** Words in first place that are commands, or will be; undefined stands for one that is not built yet. */
const WORDS: ReadonlyMap<string, Word> = new Map<string, Word>([
  ["demo", { name: "demo", shape: any }],
  ["sessions", { name: "sessions", shape: any }],
  ["help", { name: "help", shape: atMost(1) }],
  ["version", { name: "version", shape: atMost(0) }],
  ...reserved(any, "acp"),
  ...reserved(atMost(1), "login", "logout", "trust", "doctor", "init", "upgrade", "uninstall", "models", "resume"),
  ...reserved(oneOf("list", "add", "remove", "login", "logout", "get", "enable", "disable"), "mcp"),
  ...reserved(oneOf("list", "remove", "clear"), "permissions"),
  ...reserved(oneOf("list", "get", "set", "unset", "edit"), "config"),
  ...reserved(sources, "install", "remove", "update", "list"),
]);

function reserved(shape: Shape, ...names: string[]): [string, Word][] {
  return names.map((name) => [name, { name: undefined, shape }]);
}

/** The shortest word that can be a mistyped command: shorter ones are near to too many others. */
const SHORTEST_TYPO = 4;

/**
 * The command that an invocation begins with; undefined when it begins with a prompt or an option.
 *
 * @throws UsageError for a command that is not built yet, and for what can only be one mistyped
 */
export function commandIn(argv: readonly string[]): CommandName | undefined {
  const [first = "", ...rest] = argv;
  if (rest.some((word) => word === "-p" || word === "--print" || word === "--mode" || word.startsWith("--mode=")))
    return undefined;
  const words = rest.filter((word) => !word.startsWith("-"));
  const found = WORDS.get(first);
  if (found?.shape(words)) {
    if (found.name === undefined) throw notBuilt(first);
    return found.name;
  }
  if (!found) checkTyping(first, words);
  return undefined;
}

function notBuilt(word: string): UsageError {
  return new UsageError(
    `tau ${word} is not available yet in this version; see tau --help for what is, or send it as a prompt: tau -p "${word} …"`,
  );
}

function checkTyping(first: string, words: readonly string[]): void {
  if (first.length < SHORTEST_TYPO || !/^[a-z]+$/.test(first)) return;
  const near = nearNames(first, WORDS.keys(), 1)[0];
  // A word that holds a command, such as "listing", is a word of its own.
  if (near === undefined || Math.abs(near.length - first.length) > 1 || !WORDS.get(near)?.shape(words)) return;
  throw new UsageError(
    `unknown command "${first}": did you mean tau ${near}? To send it as a prompt: tau -p "${first}${words.length > 0 ? " …" : ""}"`,
  );
}
