/** What follows an option: nothing, a text, a number, or one of a few words. */
type OptionValue = { readonly kind: "flag"; readonly shown?: string } | TextValue | NumberValue;

interface TextValue {
  readonly kind: "text";
  readonly shown: string;
  readonly choices?: readonly string[];
  /** An empty text means something; elsewhere it is a variable of a script that is not set. */
  readonly mayBeEmpty?: boolean;
}

interface NumberValue {
  readonly kind: "number";
  readonly shown: string;
  readonly least: number;
  readonly whole: boolean;
  /** The number must be above `least`. */
  readonly above?: boolean;
}

/** One row an option. The help text and the parser are made from this table. */
export interface OptionRow {
  readonly name: string;
  /** Other spellings, without dashes: one letter, or pi's two- and three-letter forms. */
  readonly short?: readonly string[];
  readonly value: OptionValue;
  /** May be given more than once. */
  readonly repeat?: boolean;
  readonly group: OptionGroup;
  readonly help: string;
  /** In the design but not built yet: giving it is an error, and the help leaves it out. */
  readonly later?: boolean;
}

export type OptionGroup = "Mode" | "Model" | "Session" | "Tools" | "Context" | "Limits" | "Other";

export const GROUPS: readonly OptionGroup[] = ["Mode", "Model", "Session", "Tools", "Context", "Limits", "Other"];

const THINKING_LEVELS = ["off", "minimal", "low", "medium", "high", "xhigh", "max"] as const;

const flag: OptionValue = { kind: "flag" };
const text = (shown: string): TextValue => ({ kind: "text", shown });
const anyText = (shown: string): TextValue => ({ kind: "text", shown, mayBeEmpty: true });
const oneOf = (...choices: string[]): OptionValue => ({ kind: "text", shown: choices.join("|"), choices });
const number = (shown: string, least: number, whole: boolean): NumberValue => ({ kind: "number", shown, least, whole });

export const OPTIONS: readonly OptionRow[] = [
  { name: "print", short: ["p"], value: flag, group: "Mode", help: "run the prompt, print the last answer, exit" },
  {
    name: "mode",
    value: oneOf("text", "json", "rpc"),
    group: "Mode",
    help: "text is -p; json: a header line, then every event a line; rpc: commands by stdin",
  },
  {
    name: "export",
    value: text("<in> [out]"),
    group: "Mode",
    help: "write a session (path or id) as a page, .md as Markdown, - to stdout",
  },

  { name: "model", value: text("<model>"), group: "Model", help: "provider/id[:thinking], an id, or a part of one" },
  { name: "provider", value: text("<name>"), group: "Model", help: "look for the model at this provider only" },
  { name: "api-key", value: text("<key>"), group: "Model", help: "key for this run; not saved" },
  { name: "thinking", value: oneOf(...THINKING_LEVELS), group: "Model", help: "how much the model thinks" },
  {
    name: "list-models",
    value: { kind: "flag", shown: "[search]" },
    group: "Model",
    help: "list the models that can be used, or all that fit",
  },

  {
    name: "continue",
    short: ["c"],
    value: flag,
    group: "Session",
    help: "continue with the newest session of this folder",
  },
  {
    name: "resume",
    short: ["r"],
    value: flag,
    group: "Session",
    help: "not available yet; tau sessions lists the sessions",
  },
  {
    name: "session",
    value: text("<path|id>"),
    group: "Session",
    help: "continue with this session; a name or the end of an id will do",
  },
  { name: "session-id", value: text("<id>"), group: "Session", help: "open the session with this id, or start it" },
  { name: "fork", value: text("<path|id>"), group: "Session", help: "start a new session from a copy of this one" },
  { name: "session-dir", value: text("<dir>"), group: "Session", help: "where sessions are kept" },
  { name: "no-session", value: flag, group: "Session", help: "keep the session in memory only" },
  { name: "name", short: ["n"], value: text("<name>"), group: "Session", help: "name of the session" },

  {
    name: "tools",
    short: ["t"],
    value: text("<list>"),
    repeat: true,
    group: "Tools",
    help: "tools that are on; +name and -name change the defaults",
  },
  {
    name: "exclude-tools",
    short: ["xt"],
    value: text("<list>"),
    repeat: true,
    group: "Tools",
    help: "tools that are off",
  },
  { name: "no-tools", short: ["nt"], value: flag, group: "Tools", help: "no tools at all" },
  {
    name: "no-builtin-tools",
    short: ["nbt"],
    value: flag,
    group: "Tools",
    help: "no built-in tools; those of extensions stay",
  },
  {
    name: "permission",
    value: oneOf("yolo", "ask", "plan"),
    group: "Tools",
    help: "yolo: run every call without asking (the default)",
  },
  {
    name: "allow",
    value: text("<rule>"),
    repeat: true,
    group: "Tools",
    help: "allow what the rule matches",
    later: true,
  },
  {
    name: "deny",
    value: text("<rule>"),
    repeat: true,
    group: "Tools",
    help: "deny what the rule matches",
    later: true,
  },
  { name: "sandbox", value: flag, group: "Tools", help: "run commands in a sandbox", later: true },
  {
    name: "extension",
    short: ["e"],
    value: text("<path>"),
    repeat: true,
    group: "Tools",
    help: "load an extension",
    later: true,
  },
  { name: "no-extensions", short: ["ne"], value: flag, group: "Tools", help: "load no extensions" },

  { name: "system-prompt", value: anyText("<text|file>"), group: "Context", help: "replace the system prompt" },
  {
    name: "append-system-prompt",
    value: anyText("<text|file>"),
    repeat: true,
    group: "Context",
    help: "add to the system prompt",
  },
  { name: "no-context-files", short: ["nc"], value: flag, group: "Context", help: "ignore AGENTS.md and CLAUDE.md" },
  { name: "skill", value: text("<path>"), repeat: true, group: "Context", help: "add a skill file or folder" },
  { name: "no-skills", short: ["ns"], value: flag, group: "Context", help: "only skills given by --skill" },
  {
    name: "prompt-template",
    value: text("<path>"),
    repeat: true,
    group: "Context",
    help: "add a prompt template file or folder",
  },
  {
    name: "no-prompt-templates",
    short: ["np"],
    value: flag,
    group: "Context",
    help: "only templates given by --prompt-template",
  },
  { name: "no-themes", value: flag, group: "Context", help: "load no themes" },
  { name: "approve", short: ["a"], value: flag, group: "Context", help: "trust this project's .tau for this run" },
  {
    name: "no-approve",
    short: ["na"],
    value: flag,
    group: "Context",
    help: "do not use this project's .tau, without a warning",
  },

  { name: "max-turns", value: number("<n>", 1, true), group: "Limits", help: "stop after this many model turns" },
  {
    name: "max-cost",
    value: { ...number("<usd>", 0, false), above: true },
    group: "Limits",
    help: "stop when this run has cost this much",
  },
  {
    name: "timeout",
    value: number("<seconds>", 0, false),
    group: "Limits",
    help: "stop after this time; 0 means no limit",
  },

  { name: "offline", value: flag, group: "Other", help: "no network but the model's; local servers are found" },
  { name: "json", value: flag, group: "Other", help: "with tau sessions: one JSON record a line" },
  { name: "verbose", value: flag, group: "Other", help: "show progress on stderr also when it is not a terminal" },
  { name: "help", short: ["h"], value: flag, group: "Other", help: "show this help" },
  { name: "version", short: ["v"], value: flag, group: "Other", help: "show the version" },
];
