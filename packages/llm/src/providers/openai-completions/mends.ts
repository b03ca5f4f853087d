import { MendMemory } from "../adjust/mend-memory.ts";

/** What can be left out or renamed in a request that a server refused. */
export type Mend =
  | "no-stream-options"
  | "max-tokens"
  | "max-completion-tokens"
  | "no-developer-role"
  | "no-cache-key"
  | "no-temperature";

/** What servers of this API were found to refuse. */
export const mends = new MendMemory<Mend>([
  { mend: "no-stream-options", text: /stream_?options|include_usage/i, field: /"stream_options":/ },
  {
    mend: "max-completion-tokens",
    text: /max_tokens.{0,80}(not supported|unsupported).*max_completion_tokens/is,
    field: /"max_tokens":/,
  },
  {
    mend: "max-tokens",
    text: /(unknown|unrecognized|unexpected|extra|unsupported|not (supported|permitted|allowed)).{0,120}max_completion_tokens|max_completion_tokens.{0,120}(unknown|unrecognized|unexpected|extra|unsupported|not (supported|permitted|allowed))/is,
    field: /"max_completion_tokens":/,
  },
  { mend: "no-developer-role", text: /developer.{0,200}role|role.{0,200}developer/is, field: /"role":"developer"/ },
  { mend: "no-cache-key", text: /prompt_cache_key/i, field: /"prompt_cache_key":/ },
  {
    mend: "no-temperature",
    text: /temperature.{0,120}(not support|unsupported|only the default)|unsupported.{0,80}temperature/is,
    field: /"temperature":/,
  },
]);
