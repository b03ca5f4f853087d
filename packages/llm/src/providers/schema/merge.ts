import type { JsonSchema } from "../../protocol/tool.ts";
import { isRecord } from "../../stream/json.ts";
import { typesOf } from "./types.ts";

/** One schema that says what all of these say together; where that cannot be said, the first one wins. */
export function mergeAll(schemas: readonly JsonSchema[]): JsonSchema {
  return schemas.reduce(mergeTwo, {});
}

function mergeTwo(one: JsonSchema, other: JsonSchema): JsonSchema {
  const merged: JsonSchema = { ...other, ...one };
  for (const [key, merge] of Object.entries(MERGES)) {
    if (one[key] !== undefined && other[key] !== undefined) merged[key] = merge(one[key], other[key]);
  }
  return merged;
}

const MERGES: Record<string, (one: unknown, other: unknown) => unknown> = {
  properties: (one, other) => {
    if (!isRecord(one) || !isRecord(other)) return one;
    const both = Object.entries(other).map(([name, schema]) => {
      const mine = one[name];
      return [name, isRecord(mine) && isRecord(schema) ? mergeTwo(mine, schema) : (mine ?? schema)] as const;
    });
    return { ...one, ...Object.fromEntries(both) };
  },
  required: (one, other) => union(one, other),
  type: (one, other) => {
    const types = typesOf({ type: other });
    const shared = typesOf({ type: one }).filter((type) => types.includes(type));
    return shared.length === 1 ? shared[0] : shared.length > 0 ? shared : one;
  },
  enum: (one, other) => {
    const allowed = new Set(array(other).map(stable));
    const shared = array(one).filter((value) => allowed.has(stable(value)));
    return shared.length > 0 ? shared : one;
  },
  items: (one, other) => (isRecord(one) && isRecord(other) ? mergeTwo(one, other) : one),
  minimum: larger,
  minLength: larger,
  minItems: larger,
  maximum: smaller,
  maxLength: smaller,
  maxItems: smaller,
};

/**
 * One object schema for a choice between several: all their properties, required only where each of them asks for it.
 * Undefined when none of them is an object.
 */
export function mergeAlternatives(base: JsonSchema, variants: readonly unknown[]): JsonSchema | undefined {
  const objects = variants.filter(isRecord).flatMap((variant): JsonSchema[] => {
    const { anyOf, ...rest } = variant;
    const flat = Array.isArray(anyOf) ? mergeAlternatives(rest, anyOf) : variant;
    return flat && (typesOf(flat).length === 0 || typesOf(flat).includes("object")) ? [flat] : [];
  });
  if (objects.length === 0) return undefined;
  const properties = new Map<string, unknown>(Object.entries(record(base.properties)));
  const own = new Set(properties.keys());
  for (const [name, schema] of objects.flatMap((variant) => Object.entries(record(variant.properties)))) {
    if (!own.has(name)) properties.set(name, properties.has(name) ? either(properties.get(name), schema) : schema);
  }
  const required = array(objects[0]?.required).filter((name) =>
    objects.every((variant) => array(variant.required).includes(name)),
  );
  const { additionalProperties: _open, ...rest } = base;
  return {
    ...rest,
    type: "object",
    properties: Object.fromEntries(properties),
    required: union(base.required, required),
  };
}

/** A schema for values that fit one of two. */
function either(one: unknown, other: unknown): unknown {
  if (stable(one) === stable(other)) return one;
  if (!isRecord(one) || !isRecord(other)) return {};
  if (isChoice(one) && isChoice(other)) {
    const values = [...valuesOf(one), ...valuesOf(other)];
    const { const: _constant, ...rest } = one;
    return { ...rest, enum: [...new Map(values.map((value) => [stable(value), value])).values()] };
  }
  const choices = Array.isArray(one.anyOf) && Object.keys(one).length === 1 ? one.anyOf : [one];
  return { anyOf: [...choices, other] };
}

const isChoice = (schema: JsonSchema) => Array.isArray(schema.enum) || Object.hasOwn(schema, "const");
const valuesOf = (schema: JsonSchema): unknown[] =>
  Object.hasOwn(schema, "const") ? [schema.const] : array(schema.enum);
const array = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
const record = (value: unknown): JsonSchema => (isRecord(value) ? value : {});
const union = (one: unknown, other: unknown) => [...new Set([...array(one), ...array(other)])];
const stable = (value: unknown) => JSON.stringify(value);

function larger(one: unknown, other: unknown): unknown {
  return typeof one === "number" && typeof other === "number" ? Math.max(one, other) : one;
}

function smaller(one: unknown, other: unknown): unknown {
  return typeof one === "number" && typeof other === "number" ? Math.min(one, other) : one;
}
