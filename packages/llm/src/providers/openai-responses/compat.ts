import type { Compat, Model } from "../../protocol/model.ts";

/** What this API needs to know of a server, every question answered. */
export interface ServerTraits {
  /** Role of system messages in the middle of a conversation. */
  systemRole: "developer" | "system";
  midConversationSystem: boolean;
  /** Sends `max_output_tokens`. */
  outputLimit: boolean;
  /** Sends `prompt_cache_key`. */
  cacheKey: boolean;
  /** A result may hold images; else they follow in a message of the user. */
  imagesInResults: boolean;
  /** Takes reasoning back as plain text. OpenAI takes it back encrypted only. */
  plainReasoning: boolean;
  /** Takes a temperature from a model that reasons. */
  temperature: boolean;
  /** Header that keeps a session on one machine. */
  affinity: "none" | "openrouter" | "openai" | "openai-nosession";
  /** A key is needed: without one the request would fail anyway. */
  needsKey: boolean;
}

/** A server that follows OpenAI's API and is none of the known ones: LM Studio, llama.cpp, vLLM and others. */
const COMPATIBLE: ServerTraits = {
  systemRole: "developer",
  midConversationSystem: false,
  outputLimit: true,
  cacheKey: true,
  imagesInResults: false,
  plainReasoning: true,
  temperature: false,
  affinity: "none",
  needsKey: false,
};

const OPENAI: Partial<ServerTraits> = { imagesInResults: true, plainReasoning: false, needsKey: true };

/** Servers that differ, by the end of their host name. */
const SERVERS: readonly { host: string; traits: Partial<ServerTraits> }[] = [
  { host: "api.openai.com", traits: OPENAI },
  { host: "azure.com", traits: OPENAI },
  { host: "api.x.ai", traits: { plainReasoning: false, needsKey: true } },
  { host: "openrouter.ai", traits: { affinity: "openrouter", needsKey: true } },
];

/** Names of pi's compat fields for the traits they decide. */
const FIELDS: Partial<Record<keyof ServerTraits, string>> = {
  midConversationSystem: "supportsMidConvoSystemMessages",
  outputLimit: "supportsMaxOutputTokens",
  temperature: "supportsTemperature",
};

const known = new WeakMap<Model, ServerTraits>();

/** The traits of a model's server: those of any, what its host is known for, and the model's `compat` on top. */
export function traitsOf(model: Model): ServerTraits {
  let traits = known.get(model);
  if (!traits) {
    traits = { ...COMPATIBLE, ...serverOf(model), ...declared(model.compat ?? {}) };
    known.set(model, traits);
  }
  return traits;
}

function serverOf({ baseUrl }: Model): Partial<ServerTraits> {
  const host = URL.canParse(baseUrl) ? new URL(baseUrl).hostname : "";
  return SERVERS.find((row) => host === row.host || host.endsWith(`.${row.host}`))?.traits ?? {};
}

function declared(compat: Compat): Partial<ServerTraits> {
  const traits: Record<string, unknown> = {};
  for (const [trait, field] of Object.entries(FIELDS)) {
    if (typeof compat[field] === "boolean") traits[trait] = compat[field];
  }
  if (compat.supportsDeveloperRole === false) traits.systemRole = "system";
  if (compat.promptCacheKeyMode === "disabled") traits.cacheKey = false;
  if (compat.sendSessionAffinityHeaders === false) traits.affinity = "none";
  else if (typeof compat.sessionAffinityFormat === "string") traits.affinity = compat.sessionAffinityFormat;
  return traits;
}
