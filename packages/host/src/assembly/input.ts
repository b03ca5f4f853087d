import type { JsonObject } from "../settings/json-file.ts";

/** Which model to begin with. Nothing given: that of the session, of the settings, or the first usable one. */
export interface ModelRequest {
  /** `provider/id[:thinking]`, an id, or a part of a name. */
  readonly name?: string | undefined;
  readonly provider?: string | undefined;
  /** A key for the provider of this model, and for no other. */
  readonly apiKey?: string | undefined;
  readonly thinkingLevel?: string | undefined;
  /** The model of the tau above, before the setting and the first usable one. */
  readonly inherited?: { readonly provider: string; readonly modelId: string } | undefined;
}

/** Which session to open, and where. Nothing given: a new one. At most one of `open`, `fork` and `latest`. */
export interface SessionRequest {
  /** Path, id or beginning of an id of the session to continue. */
  readonly open?: string | undefined;
  /** Likewise, of the session to copy. */
  readonly fork?: string | undefined;
  /** Continue the newest session of the working directory, where there is one. */
  readonly latest?: boolean;
  /** Id of the session: opened when it exists, else made. */
  readonly id?: string | undefined;
  /** Keep the session in memory only. */
  readonly unsaved?: boolean;
  /** Folder of all sessions, before the setting. */
  readonly folder?: string | undefined;
  /** Display name to give to it. */
  readonly name?: string | undefined;
}

/** Which of the built-in tools are on; see `selectTools`. */
export interface ToolRequest {
  readonly list?: readonly string[] | undefined;
  readonly exclude?: readonly string[] | undefined;
  readonly none?: boolean;
}

/** What goes into prompts beside what the user types. */
export interface ContextRequest {
  /** Replaces tau's own words: a text, or the path of a file. */
  readonly systemPrompt?: string | undefined;
  /** Comes after them; each a text or the path of a file. */
  readonly append?: readonly string[];
  /** False: no SYSTEM.md and APPEND_SYSTEM.md. */
  readonly promptFiles?: boolean;
  /** False: no AGENTS.md and CLAUDE.md. */
  readonly contextFiles?: boolean;
  /** Files or folders of skills; `defaultSkills` false: these alone. */
  readonly skills?: readonly string[];
  readonly defaultSkills?: boolean;
  /** Files or folders of prompt templates; `defaultTemplates` false: these alone. */
  readonly templates?: readonly string[];
  readonly defaultTemplates?: boolean;
}

/**
 * What a front end asks for, as plain data: the command makes it from its flags, the SDK from its options. What it
 * leaves out is decided by the settings files and then by the defaults.
 */
export interface AssemblyInput {
  readonly model?: ModelRequest;
  readonly session?: SessionRequest;
  readonly tools?: ToolRequest;
  readonly context?: ContextRequest;
  /** In the shape of settings.json; wins over the files. */
  readonly settings?: JsonObject;
  /** The user's word on whether the project's `.tau` is used this time; undefined when there is none. */
  readonly approved?: boolean | undefined;
  /** The process runs its prompts and ends: its time is that of the runs, the wait for stdin included. */
  readonly oneShot?: boolean;
}
