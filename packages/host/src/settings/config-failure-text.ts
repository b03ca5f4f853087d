import type { Audience, ConfigErrorCode, ConfigFailure, ConfigFailures, MissingKey } from "./config-failure.ts";

type Texts = { readonly [Code in ConfigErrorCode]: (params: ConfigFailures[Code], audience: Audience) => string };

const SHOWN_MODELS = 5;
const SHOWN_SESSIONS = 4;
const SHOWN_NAMES = 10;

/** How to send a text that looks like a command, for the end of a line. */
const AS_TEXT = "put a space before it to send it as text";

/** The words of every failure: one line that says what is wrong, where, and how to fix it. */
const TEXTS: Texts = {
  file_unreadable: ({ path, reason }) => `cannot read ${path}: ${reason}; make it a readable file or remove it`,
  file_not_regular: ({ path }) => `cannot read ${path}: it is not a regular file; make it one or remove it`,
  file_too_large: ({ path, maxBytes }) =>
    `cannot read ${path}: it is larger than ${maxBytes / 1024 / 1024} MB; make it smaller or remove it`,
  json_invalid: ({ path, line, column, reason }) =>
    `${path}:${line}:${column}: not valid JSON (${reason}); correct this place and start again`,
  json_not_object: ({ path }) =>
    `${path}:1:1: expected a JSON object { … } at the top level; correct the file and start again`,
  json_too_deep: ({ path, levels }) =>
    `${path}: values are nested more than ${levels} deep; correct the file and start again`,
  field_invalid: ({ path, field, problem }) =>
    `${path}: ${field} ${problem}${problem.includes(";") ? "" : "; correct or remove it"}`,
  setting_invalid: ({ source, key, wants, given }) =>
    `${source}: "${key}" must be ${wants}, not ${given}; correct or remove it`,
  credential_invalid: ({ path, provider }) =>
    `${path}: "${provider}" must be {"type": "api_key", "key": "…"}; correct or remove it`,
  home_not_folder: ({ path, blockedBy }) =>
    `${path} cannot be tau's folder: ${blockedBy} is not a folder; set TAU_DIR to another place`,
  mode_not_built: ({ path, mode }) =>
    `${path}: permission mode "${mode}" is not available yet in this version; remove it`,
  nested_too_deep: ({ depth, limit }) =>
    `this is tau inside tau, ${depth} deep, and the limit is ${limit}: do the task here, or raise limits.maxDepth`,

  key_missing: missingKeyText,
  key_unsendable: ({ provider, place, reason }) =>
    `the key for "${provider}" in ${place} cannot be sent: ${reason}; give the key alone, as one line`,
  key_without_model: () => "--api-key needs --model or --provider, so that the key goes to the right place",
  header_unsendable: ({ file, header, reason }) =>
    `${file}: the header ${header} cannot be sent: ${reason}; correct or remove it`,
  header_unresolved: ({ file, header, reason }) =>
    `${file}: the header ${header} is not sent: ${reason}; correct or remove it`,
  provider_unknown: ({ name, near, setting }) =>
    `unknown provider "${name}"${inSetting(setting)}${listed(near)}; see tau --list-models, or add it to models.json`,
  provider_incomplete: ({ file, provider, field, example }) =>
    `${file}: providers.${provider}.${field} is missing; add one, e.g. "${field}": "${example}"`,
  provider_empty: ({ file, provider }) => `${file}: providers.${provider} has no models; add one`,
  model_unknown: ({ name, near, setting }) =>
    `unknown model "${name}"${inSetting(setting)}${listed(near)}; see tau --list-models, or add it to models.json`,
  level_unknown: ({ name, level, known }) =>
    `"${level}" behind ${name} is not a thinking level; give one of ${known.join(", ")}, or ${name} alone`,
  model_ambiguous: ({ name, fits }, audience) => {
    const shown = fits.slice(0, SHOWN_MODELS).join(", ") + (fits.length > SHOWN_MODELS ? ", …" : "");
    const remedy = audience === "command" ? "give one of them as --model provider/id" : "give one of them";
    return `"${name}" fits ${fits.length} models (${shown}); ${remedy}`;
  },
  api_unknown: ({ model, api, known }) =>
    `${model} names the API "${api}", which tau does not know; set "api" in models.json to one of: ${known.join(", ")}`,
  no_model: () =>
    "no model is set up: set a key such as ANTHROPIC_API_KEY or OPENAI_API_KEY, start a local server (Ollama, LM Studio, " +
    "llama.cpp, vLLM), or add one to models.json; without any, `tau demo` or --model scripted/demo plays a script",

  tool_unknown: ({ name, near, known }) => {
    const hint = near[0] === undefined ? "." : `: did you mean ${near[0]}?`;
    return `unknown tool "${name}"${hint} Available tools: ${known.join(", ") || "none"}.`;
  },
  resource_missing: ({ option, given }) =>
    `--${option} ${given}: there is no such file or folder; correct the path, or leave the option out`,
  prompt_file_missing: ({ option, given, path, found }) => {
    const what = found === "nothing" ? "there is no such file" : "this is not a file";
    return `${option} ${given}: ${what} (looked for ${path}); correct the path, or give the text itself`;
  },
  prompt_file_not_text: ({ option, path, type }) =>
    `${option} ${path}: a prompt must be text, and this file is not (${type})`,
  prompt_file_unreadable: ({ option, path, reason }) =>
    `${option}: cannot read ${path}: ${reason}; make it a readable file, or give the text itself`,
  skill_unreadable: ({ name, path }) =>
    `the skill "${name}" cannot be read any more: ${path}; restore the file, or leave the skill out`,
  skill_unknown: ({ name, near, known }) => `there is no skill "${name}"${callable("/skill:", near, known)}`,
  template_unknown: ({ name, near, known }) =>
    `there is no command or prompt template "/${name}"${callable("/", near, known)}`,

  sessions_not_folder: ({ name }) => `${name}: this is not a folder, so no session can be kept there; name a folder`,
  session_id_too_long: ({ length, most }) =>
    `--session-id of ${length} characters is too long; give one of at most ${most}`,
  session_id_taken: ({ id }) => `there is a session "${id}" already; give the fork another --session-id`,
  session_ambiguous: ({ query, paths, sameId }) => {
    const remedy = sameId ? "give the path of one of them" : "give more of the id, or the path of one of them";
    return `"${query}" fits ${paths.length} sessions; ${remedy}: ${paths.slice(0, SHOWN_SESSIONS).join(", ")}`;
  },
  session_is_folder: ({ path }) => `${path} is a folder, not a session; give the path of its file`,
  session_file_missing: ({ path }) => `there is no session file ${path}; give the path of one, or an id`,
  session_unknown: ({ query, sessionsDir }) =>
    `there is no session "${query}" in ${sessionsDir}; give the path of its file, or its id`,

  option_invalid: ({ option, takes, given }) => `createAgentSession needs ${option}, ${takes}; it got ${given}`,
  folder_missing: ({ path }) => `createAgentSession: there is no folder ${path}; make it, or correct the option cwd`,
};

/** The words of a failure, for a user of the command or for a program. */
export function failureText(failure: ConfigFailure, audience: Audience): string {
  // Each row takes the facts of its own code, which is what the failure has.
  const text = TEXTS[failure.code] as (params: ConfigFailure["params"], audience: Audience) => string;
  return text(failure.params, audience);
}

function missingKeyText({ provider, unusable, variable, authFile }: MissingKey, audience: Audience): string {
  const problems = unusable.map(({ place, reason }) => `; the one in ${place} cannot be used: ${reason}`).join("");
  const file = `add "${provider}" to ${authFile} or its apiKey to models.json`;
  const ways =
    audience === "command"
      ? [variable && `set ${variable}`, "give --api-key", file]
      : [variable && `give ${variable} in \`env\``, "a function `getApiKey`", file];
  return `No API key for "${provider}"${problems}. To fix it: ${ways.filter(Boolean).join(", or ")}.`;
}

function inSetting(setting: string | undefined): string {
  return setting === undefined ? "" : ` of the setting ${setting}`;
}

function listed(names: readonly string[]): string {
  return names.length > 0 ? ` (near: ${names.join(", ")})` : "";
}

function callable(prefix: string, [near]: readonly string[], known: readonly string[]): string {
  if (near !== undefined) return `: did you mean ${prefix}${near}? Otherwise ${AS_TEXT}`;
  if (known.length === 0) return `, nor any other; ${AS_TEXT}`;
  const all = known.slice(0, SHOWN_NAMES).map((each) => prefix + each);
  return `; available: ${all.join(", ")}${known.length > all.length ? ", …" : ""}. Otherwise ${AS_TEXT}`;
}
