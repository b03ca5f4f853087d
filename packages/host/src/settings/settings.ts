import type { ThinkingLevel } from "@tau/llm";

export type QueueMode = "one-at-a-time" | "all";
export type PermissionMode = "yolo" | "ask" | "plan";

/**
 * Everything a user can choose, from settings.json of the home, of a trusted project, and flags, in this order.
 * Names are those of pi where it has one. Unknown keys in a file are left alone.
 */
export interface Settings {
  /** Provider and model at the start of a session; without them the first usable model is taken. */
  readonly defaultProvider: string | undefined;
  readonly defaultModel: string | undefined;
  readonly defaultThinkingLevel: ThinkingLevel;
  /** Levels at the start, by `provider/id`, before `defaultThinkingLevel`. */
  readonly modelThinkingLevels: Readonly<Record<string, ThinkingLevel>> | undefined;
  /** Models to continue with when the chosen one fails for good, `provider/id`, in order. */
  readonly fallbackModels: readonly string[];
  /** How many queued messages are taken at a time. */
  readonly steeringMode: QueueMode;
  readonly followUpMode: QueueMode;
  /** Tools that are on: names replace the built-in choice, `+name` and `-name` change it. */
  readonly defaultTools: readonly string[];
  readonly compaction: {
    readonly enabled: boolean;
    /** Tokens that stay free for the answer. */
    readonly reserveTokens: number;
    /** Tokens of recent messages that are kept as they are. */
    readonly keepRecentTokens: number;
  };
  readonly retry: {
    readonly enabled: boolean;
    readonly maxRetries: number;
    readonly baseDelayMs: number;
    readonly maxDelayMs: number;
  };
  /** Time-out of a command that names none, in seconds; 0 means none. */
  readonly bashTimeoutSeconds: number;
  readonly shellPath: string | undefined;
  readonly shellCommandPrefix: string | undefined;
  /** Run limits; undefined means no limit. */
  readonly limits: {
    readonly maxTurns: number | undefined;
    /** US dollars. */
    readonly maxCost: number | undefined;
    readonly maxSeconds: number | undefined;
    readonly maxIdenticalCalls: number;
    readonly maxConsecutiveLengthStops: number;
    readonly maxCallsPerMessage: number | undefined;
    readonly maxParallelCalls: number;
    readonly abortGraceMs: number;
    /** How many taus may stand above one another. */
    readonly maxDepth: number;
  };
  /** Milliseconds; 0 switches one off. */
  readonly timeouts: { readonly firstByteMs: number; readonly idleMs: number };
  readonly images: { readonly autoResize: boolean; readonly blockImages: boolean };
  readonly permission: { readonly mode: PermissionMode };
  /** Variables that commands of the model get although they look like secrets; `*` matches any characters. */
  readonly keepEnv: readonly string[];
  /** Names of context files, the preferred one first. */
  readonly contextFileNames: readonly string[];
  /** More skill and prompt-template files or folders. */
  readonly skills: readonly string[];
  readonly prompts: readonly string[];
  readonly sessionDir: string | undefined;
  /** A proxy for all requests; the variables HTTP_PROXY and HTTPS_PROXY win. */
  readonly httpProxy: string | undefined;
}

/** What holds when nothing is set. */
export const DEFAULT_SETTINGS: Settings = {
  defaultProvider: undefined,
  defaultModel: undefined,
  defaultThinkingLevel: "medium",
  modelThinkingLevels: undefined,
  fallbackModels: [],
  steeringMode: "one-at-a-time",
  followUpMode: "one-at-a-time",
  defaultTools: ["read", "bash", "edit", "write"],
  compaction: { enabled: true, reserveTokens: 16_384, keepRecentTokens: 20_000 },
  retry: { enabled: true, maxRetries: 3, baseDelayMs: 2_000, maxDelayMs: 60_000 },
  bashTimeoutSeconds: 120,
  shellPath: undefined,
  shellCommandPrefix: undefined,
  limits: {
    maxTurns: undefined,
    maxCost: undefined,
    maxSeconds: undefined,
    maxIdenticalCalls: 20,
    maxConsecutiveLengthStops: 3,
    maxCallsPerMessage: undefined,
    maxParallelCalls: 8,
    abortGraceMs: 1_000,
    maxDepth: 4,
  },
  timeouts: { firstByteMs: 300_000, idleMs: 120_000 },
  images: { autoResize: true, blockImages: false },
  permission: { mode: "yolo" },
  keepEnv: [],
  contextFileNames: ["AGENTS.md", "CLAUDE.md"],
  skills: [],
  prompts: [],
  sessionDir: undefined,
  httpProxy: undefined,
};
