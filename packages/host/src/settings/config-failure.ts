/** A name that was not found, and those that it may have been meant for. */
export interface Named {
  readonly name: string;
  readonly near: readonly string[];
  /** The setting that has the name, where it was not asked for by an option. */
  readonly setting?: string | undefined;
}

export interface InFile {
  readonly path: string;
}

/** Why no key can be had for a provider. */
export interface MissingKey {
  readonly provider: string;
  /** Keys that are written down and cannot be used. */
  readonly unusable: readonly { readonly place: string; readonly reason: string }[];
  /** The environment variable that would give one, where the provider has such a variable. */
  readonly variable?: string | undefined;
  /** Path of auth.json. */
  readonly authFile: string;
}

/** Every mistake of usage or configuration: its code, and what its words are made from. */
export interface ConfigFailures {
  file_unreadable: InFile & { readonly reason: string };
  file_not_regular: InFile;
  file_too_large: InFile & { readonly maxBytes: number };
  json_invalid: InFile & { readonly line: number; readonly column: number; readonly reason: string };
  json_not_object: InFile;
  json_too_deep: InFile & { readonly levels: number };
  /** `problem` says what the field must be, and the remedy behind a semicolon where it is not the usual one. */
  field_invalid: InFile & { readonly field: string; readonly problem: string };
  setting_invalid: { readonly source: string; readonly key: string; readonly wants: string; readonly given: string };
  credential_invalid: InFile & { readonly provider: string };
  home_not_folder: InFile & { readonly blockedBy: string };
  mode_not_built: InFile & { readonly mode: string };
  nested_too_deep: { readonly depth: number; readonly limit: number };

  key_missing: MissingKey;
  key_unsendable: { readonly provider: string; readonly place: string; readonly reason: string };
  key_without_model: object;
  header_unsendable: { readonly file: string; readonly header: string; readonly reason: string };
  header_unresolved: { readonly file: string; readonly header: string; readonly reason: string };
  provider_unknown: Named;
  provider_incomplete: {
    readonly file: string;
    readonly provider: string;
    readonly field: string;
    readonly example: string;
  };
  provider_empty: { readonly file: string; readonly provider: string };
  model_unknown: Named;
  level_unknown: { readonly name: string; readonly level: string; readonly known: readonly string[] };
  model_ambiguous: { readonly name: string; readonly fits: readonly string[] };
  api_unknown: { readonly model: string; readonly api: string; readonly known: readonly string[] };
  no_model: object;

  tool_unknown: Named & { readonly known: readonly string[] };
  resource_missing: { readonly option: string; readonly given: string };
  prompt_file_missing: InFile & {
    readonly option: string;
    readonly given: string;
    readonly found: "nothing" | "other";
  };
  prompt_file_not_text: InFile & { readonly option: string; readonly type: string };
  prompt_file_unreadable: InFile & { readonly option: string; readonly reason: string };
  skill_unreadable: InFile & { readonly name: string };
  skill_unknown: Named & { readonly known: readonly string[] };
  template_unknown: Named & { readonly known: readonly string[] };

  sessions_not_folder: { readonly name: string };
  session_id_too_long: { readonly length: number; readonly most: number };
  session_id_taken: { readonly id: string };
  session_ambiguous: { readonly query: string; readonly paths: readonly string[]; readonly sameId: boolean };
  session_is_folder: InFile;
  session_file_missing: InFile;
  session_unknown: { readonly query: string; readonly sessionsDir: string };

  option_invalid: { readonly option: string; readonly takes: string; readonly given: string };
  folder_missing: InFile;
}

export type ConfigErrorCode = keyof ConfigFailures;

/** One mistake: a code and the facts of it, which are plain data. */
export type ConfigFailure = {
  [Code in ConfigErrorCode]: { readonly code: Code; readonly params: ConfigFailures[Code] };
}[ConfigErrorCode];

/** Who reads the words: a user of the command has options, a program has fields in their place. */
export type Audience = "command" | "program";
