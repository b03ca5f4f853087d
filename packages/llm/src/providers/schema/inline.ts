import type { JsonSchema } from "../../protocol/tool.ts";
import { isRecord } from "../../stream/json.ts";
import { mergeAll } from "./merge.ts";
import { SchemaReferences } from "./references.ts";
import { SchemaError } from "./schema-error.ts";
import { typesOf } from "./types.ts";

// Inlining can double a schema at each level, and a schema object may even contain itself.
const MAX_DEPTH = 24;
const MAX_NODES = 3000;

interface Place {
  /** References that are being inlined: meeting one again is a recursion. */
  open: readonly string[];
  depth: number;
}

/** Keywords that hold one schema, a list of them, or a map of them. */
const CHILDREN = ["items", "additionalProperties", "prefixItems", "anyOf", "oneOf"];

/**
 * The schema without references and `allOf`: what they bring is merged in. A recursion, and what is too deep or too
 * much, ends in a schema that names its type only.
 *
 * @throws SchemaError when a reference leads nowhere
 */
export function inlineReferences(root: JsonSchema): JsonSchema {
  const references = new SchemaReferences(root);
  let nodes = 0;

  const child = (value: unknown, place: Place): unknown =>
    Array.isArray(value) ? value.map((item) => inline(item, place)) : inline(value, place);

  const inline = (schema: unknown, place: Place): unknown => {
    if (!isRecord(schema)) return schema;
    if (++nodes > MAX_NODES || place.depth > MAX_DEPTH) return typeOnly(schema);
    const { $ref, $dynamicRef, allOf, ...own } = schema;
    const below = { ...place, depth: place.depth + 1 };
    for (const key of CHILDREN) if (own[key] !== undefined) own[key] = child(own[key], below);
    if (isRecord(own.properties)) {
      own.properties = Object.fromEntries(
        Object.entries(own.properties).map(([name, property]) => [name, inline(property, below)]),
      );
    }
    const reference = $ref ?? $dynamicRef;
    const brought = typeof reference === "string" ? [target(reference, below)] : [];
    const parts = Array.isArray(allOf) ? allOf.map((part) => inline(part, below)) : [];
    return brought.length + parts.length === 0 ? own : mergeAll([own, ...brought, ...parts].filter(isRecord));
  };

  const target = (reference: string, place: Place): unknown => {
    const found = references.resolve(reference);
    if (found === undefined) throw new SchemaError(`its reference ${reference} leads nowhere`);
    if (place.open.includes(reference)) return typeOnly(isRecord(found) ? found : {});
    return inline(found, { ...place, open: [...place.open, reference] });
  };

  const inlined = inline(root, { open: ["#"], depth: 0 });
  return isRecord(inlined) ? inlined : {};
}

function typeOnly(schema: JsonSchema): JsonSchema {
  const [type] = typesOf(schema);
  return type ? { type } : {};
}
