import type { JsonSchema } from "../../protocol/tool.ts";

const TYPES = ["string", "number", "integer", "boolean", "object", "array", "null"];

/** What keywords give away about a schema without a type. */
const HINTS: readonly (readonly [string, readonly string[]])[] = [
  ["object", ["properties", "required", "additionalProperties", "patternProperties", "minProperties"]],
  ["array", ["items", "prefixItems", "minItems", "maxItems", "uniqueItems"]],
  ["string", ["pattern", "minLength", "maxLength", "format"]],
  ["number", ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"]],
];

/** The types a schema allows: as it says, or by its values, or by its other keywords; empty when it says nothing. */
export function typesOf(schema: JsonSchema): string[] {
  const said = (Array.isArray(schema.type) ? schema.type : [schema.type]).filter((type) => TYPES.includes(type));
  const types = said.length > 0 ? said : guess(schema);
  return schema.nullable === true && types.length > 0 && !types.includes("null") ? [...types, "null"] : types;
}

function guess(schema: JsonSchema): string[] {
  const values = Object.hasOwn(schema, "const") ? [schema.const] : schema.enum;
  if (Array.isArray(values) && values.length > 0) return [...new Set(values.map(typeOfValue))];
  if (schema.anyOf !== undefined || schema.oneOf !== undefined) return [];
  const hint = HINTS.find(([, keywords]) => keywords.some((keyword) => schema[keyword] !== undefined));
  return hint ? [hint[0]] : [];
}

function typeOfValue(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  if (typeof value === "number") return Number.isInteger(value) ? "integer" : "number";
  return typeof value;
}
