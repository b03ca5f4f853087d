/** What an API takes of JSON Schema. Keywords that no profile names are never sent. */
export interface SchemaProfile {
  name: string;
  /** Annotations and limits that may stay as they are. */
  keywords: ReadonlySet<string>;
  /** `type` may be a list; else null becomes `nullable: true` and other lists become anyOf. */
  typeLists: boolean;
  /** `enum` may hold anything; else strings only, other values go into the description. */
  anyEnum: boolean;
  /** Every schema needs a type; one that says nothing becomes a string. */
  typeRequired: boolean;
  /** What a property may be called. */
  propertyName?: RegExp;
}

const LIMITS = ["minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems", "pattern", "format", "default"];

const STANDARD: SchemaProfile = {
  name: "standard",
  keywords: new Set(["description", "additionalProperties", ...LIMITS]),
  typeLists: true,
  anyEnum: true,
  typeRequired: false,
};

/** The dialects that are known; see each provider's page on tools. */
export const SCHEMA_PROFILES = {
  /** OpenAI's chat completions and the servers that follow it. */
  openai: STANDARD,
  /** Anthropic checks the names of properties: `^[a-zA-Z0-9_.-]{1,64}$`. */
  anthropic: { ...STANDARD, name: "anthropic", propertyName: /^[a-zA-Z0-9_.-]{1,64}$/ },
  /** Gemini's OpenAPI subset, also behind its OpenAI-compatible endpoint. */
  google: {
    name: "google",
    keywords: new Set(["description", "minimum", "maximum", "minItems", "maxItems"]),
    typeLists: false,
    anyEnum: false,
    typeRequired: true,
  },
} as const satisfies Record<string, SchemaProfile>;
