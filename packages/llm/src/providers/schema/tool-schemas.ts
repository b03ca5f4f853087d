import type { JsonSchema, Tool } from "../../protocol/tool.ts";
import { wireToolName } from "../history/wire-names.ts";
import { lowerSchema } from "./lower.ts";
import type { SchemaProfile } from "./profile.ts";
import { SchemaError } from "./schema-error.ts";

export { SCHEMA_PROFILES, type SchemaProfile } from "./profile.ts";

/** Tools as one API takes them: names of the wire, parameters in its dialect. */
export interface LoweredTools {
  tools: readonly Tool[];
  /** One line for each tool that had to be left out. */
  warnings: readonly string[];
}

type Lowered = { parameters: JsonSchema } | { reason: string };

// By schema object: tools are declared anew for each request, their schemas are not.
const lowered = new WeakMap<SchemaProfile, WeakMap<JsonSchema, Lowered>>();

/**
 * The tools in the words of a profile (R041, R165). A tool whose schema cannot be said, and the second of two tools of
 * one name, are left out with a warning; the others work.
 */
export function lowerTools(tools: readonly Tool[], profile: SchemaProfile): LoweredTools {
  const kept = new Map<string, Tool>();
  const warnings: string[] = [];
  for (const { name, description, parameters } of tools) {
    const wireName = wireToolName(name);
    const result = kept.has(wireName) ? { reason: "another tool has its name" } : lowerOnce(parameters, profile);
    if ("reason" in result) warnings.push(`The model does not get the tool ${JSON.stringify(name)}: ${result.reason}.`);
    else kept.set(wireName, { name: wireName, description, parameters: result.parameters });
  }
  return { tools: [...kept.values()], warnings };
}

function lowerOnce(schema: unknown, profile: SchemaProfile): Lowered {
  if (typeof schema !== "object" || schema === null) return lower(schema, profile);
  const known = lowered.get(profile) ?? new WeakMap<object, Lowered>();
  lowered.set(profile, known);
  const result = known.get(schema) ?? lower(schema, profile);
  known.set(schema, result);
  return result;
}

function lower(schema: unknown, profile: SchemaProfile): Lowered {
  try {
    return { parameters: lowerSchema(schema, profile) };
  } catch (error) {
    if (error instanceof SchemaError) return { reason: error.message };
    throw error;
  }
}
