import type { ThinkingLevel } from "@tau/llm";
import { isObject } from "./json-file.ts";

/** What one setting may be. `read` gives the value to use, or undefined when the given one does not fit. */
interface ValueKind {
  /** For the warning: "must be …". */
  readonly wants: string;
  read(value: unknown): unknown;
}

/** One row a setting: where it is in the file and what it may be. */
export interface SettingRow {
  /** Dotted path in settings.json and in `Settings`. */
  readonly key: string;
  readonly kind: ValueKind;
  /** Other paths in the file that mean the same, as pi names them. */
  readonly aliases?: readonly string[];
  /** Ignored in a project's file: what a repository must not decide (R145). */
  readonly homeOnly?: boolean;
  /**
   * A value that does not fit is a ConfigError, where others are named in a warning: a typing error must not take
   * away a protection that the user believes in, nor send requests another way.
   */
  readonly protects?: boolean;
}

const bool: ValueKind = { wants: "true or false", read: (v) => (typeof v === "boolean" ? v : undefined) };
const text: ValueKind = {
  wants: "a text that is not empty",
  read: (v) => (typeof v === "string" && v !== "" ? v : undefined),
};
const texts: ValueKind = {
  wants: "a list of texts",
  read: (v) => (Array.isArray(v) && v.every((item) => typeof item === "string") ? v : undefined),
};
const amount: ValueKind = {
  wants: "a number that is not negative",
  read: (v) => (typeof v === "number" && Number.isFinite(v) && v >= 0 ? v : undefined),
};

/** A budget of nothing would stop every run before its first request. */
const price: ValueKind = {
  wants: "a number above 0",
  read: (v) => (typeof v === "number" && Number.isFinite(v) && v > 0 ? v : undefined),
};

function whole(least: number): ValueKind {
  return {
    wants: `a whole number of at least ${least}`,
    read: (v) => (typeof v === "number" && Number.isSafeInteger(v) && v >= least ? v : undefined),
  };
}

/** As `@tau/llm` takes it: a URL, or host and port. A word alone is more likely a mistake than a host. */
const proxy: ValueKind = {
  wants: "a URL such as http://127.0.0.1:3128",
  read: (v) =>
    typeof v === "string" &&
    /^(https?:\/\/|[^/]*:\d+\/?$)/i.test(v) &&
    URL.canParse(v.replace(/^(?!https?:)/i, "http://"))
      ? v
      : undefined,
};

/** Milliseconds; pi also writes "disabled" for 0. */
const milliseconds: ValueKind = {
  wants: 'a whole number of milliseconds, or "disabled"',
  read: (v) => (v === "disabled" ? 0 : whole(0).read(v)),
};

function oneOf(...choices: string[]): ValueKind {
  return {
    wants: `one of ${choices.join(", ")}`,
    read: (v) => (typeof v === "string" && choices.includes(v) ? v : undefined),
  };
}

/** All thinking levels, from none to most. */
export const LEVELS: readonly ThinkingLevel[] = ["off", "minimal", "low", "medium", "high", "xhigh", "max"];

/** By `provider/id`. */
const levels: ValueKind = {
  wants: `an object of levels by "provider/id", each one of ${LEVELS.join(", ")}`,
  read: (v) =>
    isObject(v) && Object.values(v).every((level) => LEVELS.some((each) => each === level)) ? v : undefined,
};

const queueMode = oneOf("one-at-a-time", "all");

/** All settings. A new one is a row here, a field in `Settings` and its default. */
export const SETTING_ROWS: readonly SettingRow[] = [
  { key: "defaultProvider", kind: text },
  { key: "defaultModel", kind: text },
  { key: "defaultThinkingLevel", kind: oneOf(...LEVELS) },
  { key: "modelThinkingLevels", kind: levels },
  { key: "fallbackModels", kind: texts },
  { key: "steeringMode", kind: queueMode },
  { key: "followUpMode", kind: queueMode },
  { key: "defaultTools", kind: texts },
  { key: "compaction.enabled", kind: bool },
  { key: "compaction.reserveTokens", kind: whole(0) },
  { key: "compaction.keepRecentTokens", kind: whole(0) },
  { key: "retry.enabled", kind: bool },
  { key: "retry.maxRetries", kind: whole(0) },
  { key: "retry.baseDelayMs", kind: whole(0) },
  { key: "retry.maxDelayMs", kind: whole(0), aliases: ["retry.maxAgentDelayMs"] },
  { key: "bashTimeoutSeconds", kind: amount },
  { key: "shellPath", kind: text, homeOnly: true },
  { key: "shellCommandPrefix", kind: text },
  { key: "limits.maxTurns", kind: whole(1), protects: true },
  { key: "limits.maxCost", kind: price, protects: true },
  { key: "limits.maxSeconds", kind: amount, protects: true },
  { key: "limits.maxIdenticalCalls", kind: whole(1), protects: true },
  { key: "limits.maxConsecutiveLengthStops", kind: whole(1), protects: true },
  { key: "limits.maxCallsPerMessage", kind: whole(1), protects: true },
  { key: "limits.maxParallelCalls", kind: whole(1), protects: true },
  { key: "limits.abortGraceMs", kind: whole(0), protects: true },
  { key: "limits.maxDepth", kind: whole(0), homeOnly: true, protects: true },
  { key: "timeouts.firstByteMs", kind: milliseconds },
  { key: "timeouts.idleMs", kind: milliseconds, aliases: ["httpIdleTimeoutMs"] },
  { key: "images.autoResize", kind: bool },
  { key: "images.blockImages", kind: bool },
  { key: "permission.mode", kind: oneOf("yolo", "ask", "plan"), homeOnly: true, protects: true },
  { key: "keepEnv", kind: texts, homeOnly: true },
  { key: "contextFileNames", kind: texts },
  { key: "skills", kind: texts },
  { key: "prompts", kind: texts },
  { key: "sessionDir", kind: text },
  { key: "httpProxy", kind: proxy, homeOnly: true, protects: true },
];
