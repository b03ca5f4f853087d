import type { AgentLoopConfig, AgentMessage, AgentTool, Limits } from "@tau/agent";
import type { Model, NetworkSettings, RequestTimeouts, StreamFn, ThinkingLevel } from "@tau/llm";
import type { PromptSections } from "@tau/llm/head";
import type { Compactor } from "../compaction/compactor.ts";
import type { HookBus } from "../hooks/hook-bus.ts";
import type { QueueMode } from "../settings/settings.ts";
import type { SessionStore } from "../store/session-store.ts";
import type { UserCommandRunner } from "../tools/bash/user-command.ts";
import type { KeepWhole } from "../tools/pipeline/result-cap.ts";
import type { SavedState, SessionSnapshot } from "./context/snapshot.ts";
import type { CountTokens } from "./context/tokens.ts";
import type { PermissionGate } from "./permission/permission.ts";
import type { RunEnding } from "./run/outcome.ts";
import { DEFAULT_RETRY, type RetrySettings } from "./run/recovery.ts";

export type { QueueMode };

/** What a session may spend before it stops; counted over all its runs, retries included. */
export interface Budget {
  /** Requests to the model. */
  readonly maxTurns?: number;
  /** US dollars. */
  readonly maxCost?: number;
  readonly maxTokens?: number;
  /** Milliseconds of running. */
  readonly timeoutMs?: number;
  /** Milliseconds of `timeoutMs` that are over when the first run begins, at which it is asked. Default 0. */
  readonly spentMs?: () => number;
}

/** Limits, retries, queues, time-outs and the network of a session. */
export interface SessionSettings {
  readonly retry: RetrySettings;
  readonly budget: Budget;
  /** Limits of the loop; `maxTurns` belongs to the budget. */
  readonly limits: Omit<Limits, "maxTurns">;
  readonly steeringMode: QueueMode;
  readonly followUpMode: QueueMode;
  /** Models to continue with, in order. */
  readonly fallbackModels: readonly Model[];
  readonly timeouts?: RequestTimeouts;
  readonly network?: NetworkSettings;
  readonly toolExecution?: "parallel" | "sequential";
}

/** What holds where a program, or settings.json, gives nothing else. */
export const DEFAULT_SESSION_SETTINGS: SessionSettings = {
  retry: DEFAULT_RETRY,
  budget: {},
  limits: {},
  steeringMode: "one-at-a-time",
  followUpMode: "one-at-a-time",
  fallbackModels: [],
};

/** Waits; resolves early, without an error, when the signal fires. */
export type Sleep = (ms: number, signal: AbortSignal) => Promise<void>;

/** Handlers of the program that makes the session; they are the first rows of the bus. */
export interface SessionAgentHooks extends Pick<AgentLoopConfig, "transformContext" | "afterToolCall"> {
  /**
   * Asked when nothing would continue by itself any more: messages that it gives start another run before the session
   * settles. It is asked again after that run, so it has to come to an end by itself.
   */
  beforeSettle?(ending: RunEnding): AgentMessage[] | undefined | Promise<AgentMessage[] | undefined>;
}

/** All that a session is made of; `createAgentSession` fills in what a program leaves out. */
export interface AgentSessionOptions {
  /** Absolute; told to nobody but those who ask for it. */
  readonly cwd: string;
  readonly model: Model;
  /** Default off. */
  readonly thinkingLevel?: ThinkingLevel;
  readonly tools: readonly AgentTool[];
  readonly systemPrompt: string | { readonly sections: PromptSections };
  /** An open store; the session closes it. A store with a history is resumed. */
  readonly store: SessionStore;
  /** Default: the one that the host installed. */
  readonly streamFn?: StreamFn;
  readonly settings?: Partial<SessionSettings>;
  /** Asked before each request, so that short-lived keys stay fresh. */
  readonly getApiKey?: (model: Model) => string | undefined | Promise<string | undefined>;
  /** Finds a model for `set_model`. Default: knows the model and the fallback models only. */
  readonly findModel?: (provider: string, modelId: string) => Model | undefined | Promise<Model | undefined>;
  readonly compactor?: Compactor;
  readonly permission?: PermissionGate;
  /** Runs the commands that the user gives himself; without it they are refused. */
  readonly userCommands?: UserCommandRunner;
  readonly hooks?: SessionAgentHooks;
  /** Where more handlers are added and taken away, before and while the session runs. Default: one of its own. */
  readonly bus?: HookBus<RunEnding>;
  /** Somebody answers permission requests. Default false. */
  readonly attended?: boolean;
  /** Keeps the whole text of a tool result that is too long for any context. Default: it is lost. */
  readonly keepWhole?: KeepWhole;
  /** Values that are masked in what tools give back; a function when more become known on the way. */
  readonly secrets?: readonly string[] | (() => readonly string[]);
  readonly countTokens?: CountTokens;
  /** What tools and extensions keep, for a snapshot. */
  readonly saveState?: () => SavedState;
  /** Of the same session, taken by `snapshot()`: it continues there. */
  readonly snapshot?: SessionSnapshot;
  /** Told when the session is over, last of all; for what the tools hold (processes, servers). */
  readonly onDispose?: () => void | Promise<void>;
  /** Unix time in milliseconds. */
  readonly now?: () => number;
  /** 0 to 1. */
  readonly random?: () => number;
  readonly sleep?: Sleep;
}

/** Waits with a timer that does not keep the process alive after an abort. */
export const timerSleep: Sleep = (ms, signal) =>
  new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const done = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, Math.min(ms, MAX_TIMER_MS));
    signal.addEventListener("abort", done, { once: true });
  });

/** Longer timers fire at once in Node. */
const MAX_TIMER_MS = 2 ** 31 - 1;
