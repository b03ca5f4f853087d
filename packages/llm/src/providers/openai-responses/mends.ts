import { MendMemory } from "../adjust/mend-memory.ts";

/** What can be left out of a request that a server refused. */
export type Mend =
  | "no-summary"
  | "no-effort"
  | "no-include"
  | "no-reasoning-items"
  | "no-item-ids"
  | "no-cache-key"
  | "no-temperature"
  | "no-output-limit";

const REFUSED = String.raw`\b(unknown|unrecognized|unexpected|extra|unsupported|not (supported|permitted|allowed))\b`;
/** A text that refuses a field, in either order; the field is between quotes where its name is a word of any text. */
const refuses = (field: string) => new RegExp(`${REFUSED}.{0,200}${field}|${field}.{0,200}${REFUSED}`, "is");

/** What servers of this API were found to refuse. */
export const mends = new MendMemory<Mend>([
  // OpenAI gives summaries to verified organisations only.
  { mend: "no-summary", text: /reasoning[._ ]summar/i, field: /"summary":"auto"/ },
  // Reasoning of another key, organisation or deployment; LM Studio names no field.
  {
    mend: "no-reasoning-items",
    text: /invalid_encrypted_content|encrypted content .{0,300}(could not|cannot|invalid)|item (with id )?'?rs_|required ('?reasoning'?|following) item|input\[\d+\]\.(encrypted_content|summary|content)|invalid_union|cannot determine type of 'item'/is,
    field: /"type":"reasoning"/,
  },
  {
    mend: "no-item-ids",
    text: /duplicate item|item (with id )?'?msg_|input\[\d+\]\.id\b|invalid_union/i,
    field: /"type":"message"/,
  },
  {
    mend: "no-include",
    text: new RegExp(`encrypted content is not supported|${refuses(String.raw`["'\`]include\b`).source}`, "is"),
    field: /"include":/,
  },
  { mend: "no-effort", text: refuses(String.raw`["'\`]reasoning(\\?["'\`]|[._]effort\b)`), field: /"reasoning":/ },
  { mend: "no-cache-key", text: /prompt_cache_key/i, field: /"prompt_cache_key":/ },
  { mend: "no-temperature", text: refuses("temperature"), field: /"temperature":/ },
  { mend: "no-output-limit", text: refuses("max_output_tokens"), field: /"max_output_tokens":/ },
]);
