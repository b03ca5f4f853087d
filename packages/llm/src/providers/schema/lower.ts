import type { JsonSchema } from "../../protocol/tool.ts";
import { isRecord } from "../../stream/json.ts";
import { inlineReferences } from "./inline.ts";
import { mergeAlternatives } from "./merge.ts";
import type { SchemaProfile } from "./profile.ts";
import { SchemaError } from "./schema-error.ts";
import { typesOf } from "./types.ts";

/**
 * The parameters of a tool in the words of a profile. What can only be said less exactly is said less exactly, since
 * arguments are checked against the tool's own schema anyway: references are inlined, `const` becomes `enum`, `oneOf`
 * `anyOf`, a tuple a list of any of its items, a choice at the top one object with all its properties.
 *
 * @throws SchemaError when the root takes no object, a reference leads nowhere, or a required name is not possible
 */
export function lowerSchema(schema: unknown, profile: SchemaProfile): JsonSchema {
  if (schema !== undefined && schema !== true && !isRecord(schema)) {
    throw new SchemaError("its parameters are not JSON Schema");
  }
  const root = inlineReferences(isRecord(schema) ? schema : {});
  const { anyOf, oneOf, ...rest } = root;
  const variants = [anyOf, oneOf].filter(Array.isArray).flat();
  const object = variants.length > 0 ? mergeAlternatives(rest, variants) : rest;
  const types = typesOf(object ?? {});
  if (!object || isForbidden(object) || (types.length > 0 && !types.includes("object"))) {
    throw new SchemaError("its parameters are not an object");
  }
  const { enum: _values, const: _value, nullable: _null, ...plain } = object;
  return { type: "object", properties: {}, ...lower({ ...plain, type: "object" }, profile) };
}

/** One schema below the root, without references. */
function lower(schema: unknown, profile: SchemaProfile): JsonSchema {
  const source = isRecord(schema) ? schema : {};
  const lowered: JsonSchema = {};
  const types = typesOf(source);
  setType(lowered, types, profile);
  setValues(lowered, source, profile);
  setLimits(lowered, source, types);
  if (allows(lowered, "object")) setProperties(lowered, source, profile);
  if (allows(lowered, "array")) lowered.items = lowerItems(source, profile);
  setVariants(lowered, source, profile);
  for (const key of Object.keys(lowered)) if (!STRUCTURE.has(key) && !profile.keywords.has(key)) delete lowered[key];
  if (profile.typeRequired && lowered.type === undefined && lowered.anyOf === undefined) lowered.type = "string";
  return lowered;
}

const STRUCTURE = new Set(["type", "enum", "properties", "required", "items", "anyOf", "nullable"]);

const allows = ({ type }: JsonSchema, name: string) => type === name || (Array.isArray(type) && type.includes(name));

/** `false` and `not: {}` allow nothing. */
function isForbidden(schema: unknown): boolean {
  if (schema === false) return true;
  if (!isRecord(schema) || !Object.hasOwn(schema, "not")) return false;
  return schema.not === true || (isRecord(schema.not) && Object.keys(schema.not).length === 0);
}

function setType(lowered: JsonSchema, types: readonly string[], profile: SchemaProfile): void {
  if (types.length === 0) return;
  const named = types.filter((type) => type !== "null");
  if (types.length === 1) lowered.type = types[0];
  else if (profile.typeLists) lowered.type = [...types];
  else if (named.length === 1) lowered.type = named[0];
  else lowered.anyOf = named.map((type) => ({ type, ...(type === "array" && { items: { type: "string" } }) }));
  if (!profile.typeLists && types.length > 1 && types.includes("null")) lowered.nullable = true;
}

function setValues(lowered: JsonSchema, source: JsonSchema, profile: SchemaProfile): void {
  if (typeof source.description === "string" && source.description !== "") lowered.description = source.description;
  const values: unknown = Object.hasOwn(source, "const") ? [source.const] : source.enum;
  if (!Array.isArray(values) || values.length === 0) return;
  if (profile.anyEnum) {
    lowered.enum = values;
  } else if (values.every((value) => typeof value === "string" && value !== "")) {
    lowered.enum = values;
  } else {
    const oneOf = `One of: ${values.map((value) => JSON.stringify(value)).join(", ")}.`;
    lowered.description = lowered.description ? `${lowered.description} ${oneOf}` : oneOf;
  }
}

const NUMBERS = ["minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems"];
const STRINGS = ["pattern", "format"];

function setLimits(lowered: JsonSchema, source: JsonSchema, types: readonly string[]): void {
  for (const key of NUMBERS) if (typeof source[key] === "number") lowered[key] = source[key];
  for (const key of STRINGS) if (typeof source[key] === "string") lowered[key] = source[key];
  if (source.default !== undefined) lowered.default = source.default;
  // A bound that is itself not allowed can be said exactly of integers only; of others the tool's own check stays.
  const step = types.includes("integer") && !types.includes("number") ? 1 : 0;
  setBound(lowered, "minimum", { exclusive: source.exclusiveMinimum, step });
  setBound(lowered, "maximum", { exclusive: source.exclusiveMaximum, step: -step });
}

function setBound(
  lowered: JsonSchema,
  key: "minimum" | "maximum",
  { exclusive, step }: { exclusive: unknown; step: number },
): void {
  const bound = lowered[key];
  // Draft 4 has a flag beside the bound, later drafts a bound of its own.
  if (exclusive === true && typeof bound === "number") lowered[key] = bound + step;
  if (typeof exclusive !== "number") return;
  const own = (step > 0 ? Math.floor(exclusive) : step < 0 ? Math.ceil(exclusive) : exclusive) + step;
  const stricter = key === "minimum" ? Math.max : Math.min;
  lowered[key] = typeof bound === "number" ? stricter(bound, own) : own;
}

function setProperties(lowered: JsonSchema, source: JsonSchema, profile: SchemaProfile): void {
  const required = Array.isArray(source.required) ? source.required : [];
  const entries = Object.entries(isRecord(source.properties) ? source.properties : {}).filter(([name, schema]) => {
    if (isForbidden(schema)) return false;
    if (!profile.propertyName || profile.propertyName.test(name)) return true;
    if (required.includes(name))
      throw new SchemaError(`the name of its parameter ${JSON.stringify(name)} is not allowed`);
    return false;
  });
  const names = entries.map(([name]) => name);
  const asked = [...new Set(required)].filter((name) => names.includes(name));
  if (entries.length > 0 || isRecord(source.properties)) {
    lowered.properties = Object.fromEntries(entries.map(([name, schema]) => [name, lower(schema, profile)]));
  }
  if (asked.length > 0) lowered.required = asked;
  const { additionalProperties: more } = source;
  if (typeof more === "boolean") lowered.additionalProperties = more;
  else if (isRecord(more)) lowered.additionalProperties = isForbidden(more) ? false : lower(more, profile);
}

function lowerItems(source: JsonSchema, profile: SchemaProfile): JsonSchema {
  const { items, prefixItems } = source;
  const tuple = Array.isArray(items) ? items : prefixItems;
  if (!Array.isArray(tuple)) return lower(items, profile);
  const rest = isRecord(items) ? [items] : [];
  return lower({ anyOf: [...tuple, ...rest] }, profile);
}

function setVariants(lowered: JsonSchema, source: JsonSchema, profile: SchemaProfile): void {
  const sources = [source.anyOf, source.oneOf].filter(Array.isArray).flat();
  const variants = sources.filter((variant) => !isForbidden(variant)).map((variant) => lower(variant, profile));
  const distinct = [...new Map(variants.map((variant) => [JSON.stringify(variant), variant])).values()];
  const isNull = (variant: JsonSchema) => variant.type === "null";
  const shown = profile.typeLists ? distinct : distinct.filter((variant) => !isNull(variant));
  if (shown.length < distinct.length) lowered.nullable = true;
  // A variant that allows everything makes the choice empty words.
  if (shown.length === 0 || shown.some((variant) => Object.keys(variant).length === 0)) return;
  if (shown.length === 1) Object.assign(lowered, { ...shown[0], ...lowered });
  else lowered.anyOf = shown;
}
