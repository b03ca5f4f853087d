import type { AgentTool, AgentToolResult } from "@tau/agent";
import type { ProcessGroups } from "../platform/process-groups.ts";
import type { MaskSecrets } from "../platform/secret-mask.ts";
import type { FileReads } from "./files/file-reads.ts";

/** Limits for images that tools put into results; all three hold at once. */
export interface ImageLimits {
  /** Pixels. */
  readonly maxWidth: number;
  /** Pixels. */
  readonly maxHeight: number;
  /** Length of the base64 text, in bytes. */
  readonly maxBase64Bytes: number;
}

/** What every known provider takes: 5 MB of base64 is the lowest limit in the field, with some room left. */
export const DEFAULT_IMAGE_LIMITS: ImageLimits = { maxWidth: 2000, maxHeight: 2000, maxBase64Bytes: 4_500_000 };

/** The settings that the built-in tools read; the composition root fills them from flags and files. */
export interface ToolSettings {
  /** Default time-out of `bash`, in seconds; 0 means none. */
  readonly bashTimeoutSeconds: number;
  /** Shell for `bash`; absent: found on the PATH of `env`. */
  readonly shellPath?: string;
  /** Text put before every command of `bash` (pi's `shellCommandPrefix`). */
  readonly shellCommandPrefix?: string;
  /** ripgrep for `grep` and `find`; absent: the one on the PATH of `env`, else the packaged one. */
  readonly ripgrepPath?: string;
  /** Absent: `DEFAULT_IMAGE_LIMITS`. */
  readonly imageLimits?: ImageLimits;
  /** False: images are sent as they are, or not at all when they have too many bytes. Default true. */
  readonly resizeImages?: boolean;
  /** True: `read` never sends images, only says what they are. Default false. */
  readonly blockImages?: boolean;
}

/** Where the tools of one session work. Made once by the host, given to every tool factory. */
export interface ToolEnvironment {
  /** Absolute; relative paths of the model are resolved against it. */
  readonly cwd: string;
  /** What a leading `~` means. */
  readonly homeDir: string;
  /** The whole environment of child processes: nothing of the agent's own is added, so secrets stay out. */
  readonly env: Readonly<Record<string, string>>;
  /** tau's home, absolute (`~/.tau`). */
  readonly tauDir: string;
  /** Where outputs too long for the model are kept, absolute; made when first needed. */
  readonly tempDir: string;
  readonly settings: ToolSettings;
  /** Masks the keys that results must not show. Absent: nothing is masked. */
  readonly mask?: MaskSecrets;
  /** What the model has read so far; shared by read, edit and write of a session. Absent: each tool keeps none. */
  readonly fileReads?: FileReads;
  /** Knows all that the tools started and that may still live, so that the session can end it. Absent: one for all. */
  readonly processes?: ProcessGroups | undefined;
}

/** What the hooks of a tool are told about the call (laws P1, E5). */
interface ToolContext {
  readonly environment: ToolEnvironment;
  readonly toolCallId: string;
  readonly toolName: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly signal: AbortSignal;
}

/** A tool's own opinion on a call; `undefined` leaves it to the rules (law P1). */
type ToolPermission =
  | { readonly action: "allow" }
  | { readonly action: "ask"; readonly reason: string }
  | { readonly action: "deny"; readonly reason: string };

/** The paths that a call names, as it gives them. */
export interface TouchedPaths {
  readonly reads?: readonly string[];
  readonly writes?: readonly string[];
  /** Files and folders that are listed or searched. */
  readonly searches?: readonly string[];
  /** True: the arguments do not say which files the call may touch. */
  readonly unknown?: boolean;
}

/** The part of a call that people read better than as JSON. */
export interface CallBody {
  readonly kind: "command" | "diff";
  readonly text: string;
  /** Names of the arguments that it stands for. */
  readonly replaces: readonly string[];
}

/** A line for the system prompt of a model that has the tool. */
export interface ToolAdvice {
  readonly text: string;
  /** Names of other tools that must be on too. */
  readonly needs?: readonly string[];
  /** Names of other tools that must be off. */
  readonly without?: readonly string[];
}

/** What a tool knows of its calls, for whoever shows, summarizes or judges them. */
export interface ToolFacts<Args = Record<string, unknown>> {
  /** Name of the argument that a call is about; absent: the first one that is a text. */
  readonly about?: string;
  /** What a call does, in a few words for people, without the name of the tool. Absent: the argument it is about. */
  summary?(args: Args): string;
  /** What a call reads and writes, as its arguments alone show. Absent: not known. */
  touches?(args: Args): TouchedPaths;
  /** Undefined where JSON is as good. The arguments may come from a file, unchecked. */
  body?(args: Args): CallBody | undefined;
  readonly advice?: readonly ToolAdvice[];
  /** True: a model can read the files of skills with it. */
  readonly opensFiles?: boolean;
}

/** The facts of a built-in tool, which hold for the calls of a session file too. */
export interface NamedFacts<Args = Record<string, unknown>> extends ToolFacts<Args> {
  readonly name: string;
  /** On unless the user says otherwise (law G2). */
  readonly onByDefault?: boolean;
}

/** A tool as the loop and the pipeline take it: it knows where it works, and may have a word of its own on a call. */
export interface LoopTool<Args = Record<string, unknown>, Details = unknown>
  extends AgentTool<Args, Details>,
    ToolFacts<Args> {
  checkPermission?(
    args: Args,
    call: Omit<ToolContext, "environment">,
  ): ToolPermission | undefined | Promise<ToolPermission | undefined>;
}

/**
 * A tool as the registry keeps it (law G1): what the loop runs plus the host's hooks. `Args` is a type alias, not
 * an interface, so that a typed tool fits a list of untyped ones.
 */
export interface ToolDefinition<Args = Record<string, unknown>, Details = unknown>
  extends AgentTool<Args, Details>,
    ToolFacts<Args> {
  checkPermission?(args: Args, context: ToolContext): ToolPermission | undefined | Promise<ToolPermission | undefined>;
  /** Sees every result, failed ones too, before the model does (law E5); `undefined` keeps it as it is. */
  postProcess?(
    result: AgentToolResult<Details>,
    context: ToolContext,
  ): AgentToolResult<Details> | undefined | Promise<AgentToolResult<Details> | undefined>;
}

/**
 * Makes a built-in tool. The file of a factory holds name, description and schema only and is loaded before the
 * first request; `execute` imports the working part when it is first called, so that it costs nothing at the start.
 */
export type ToolFactory = (environment: ToolEnvironment) => ToolDefinition;

/** A result of one text block. */
export function textResult<Details>(text: string, details: Details): AgentToolResult<Details> {
  return { content: [{ type: "text", text }], details };
}

/** A failed call: the text is what the model reads, so it says what to do next. */
export function errorResult(text: string): AgentToolResult<undefined>;
export function errorResult<Details>(text: string, details: Details): AgentToolResult<Details>;
export function errorResult(text: string, details?: unknown): AgentToolResult {
  return { content: [{ type: "text", text }], details, isError: true };
}
