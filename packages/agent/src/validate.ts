import type { JsonSchema } from "@tau/llm";
import { isRecord, kindOf, parseJson } from "./values.ts";

type Json = Record<string, unknown>;
export type Validation = { ok: true; args: Json } | { ok: false; text: string };

interface Place {
  root: JsonSchema;
  path: string;
  depth: number;
  issues: string[];
  /** Fields that the schema does not allow: left out, and named when the call fails anyway. */
  extras: string[];
}

const MAX_DEPTH = 64;
const list = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
const same = (one: unknown, other: unknown) => one === other || JSON.stringify(one) === JSON.stringify(other);
const own = (value: Json, key: string) => (Object.hasOwn(value, key) ? value[key] : undefined);

/** What a type accepts, and how a string that plainly is such a value is read (C7): without loss, never a guess. */
const TYPES: Record<string, { is(value: unknown): boolean; read?(text: string): unknown }> = {
  string: { is: (value) => typeof value === "string" },
  number: { is: Number.isFinite, read: readNumber },
  integer: { is: Number.isInteger, read: readNumber },
  boolean: { is: (value) => typeof value === "boolean", read: parseJson },
  null: { is: (value) => value === null },
  array: { is: Array.isArray, read: parseJson },
  object: { is: isRecord, read: parseJson },
};

function readNumber(text: string): unknown {
  const value = text === text.trim() ? parseJson(text) : undefined;
  return Number.isInteger(value) && !Number.isSafeInteger(value) ? undefined : value;
}

/**
 * Checks arguments against a JSON Schema and turns values of the wrong JSON type into the right one where nothing is
 * lost (law C7, report R013). What this validator does not know of a schema counts as fulfilled.
 * @returns the arguments to run with, or what to tell the model: each fault, the received fields, the expected shape
 */
export function validateArguments(schema: JsonSchema, args: Json): Validation {
  const place: Place = { root: schema, path: "", depth: 0, issues: [], extras: [] };
  try {
    const value = check(schema, args, place);
    if (place.issues.length === 0) return { ok: true, args: isRecord(value) ? value : args };
  } catch {
    return { ok: true, args }; // a schema that breaks the validator must not block its tool
  }
  const known = isRecord(schema.properties) ? schema.properties : args;
  const unknown = new Set([...place.extras, ...Object.keys(args).filter((key) => !Object.hasOwn(known, key))]);
  const faults = [...place.issues, ...[...unknown].map((path) => `${path}: unknown field`)].slice(0, 30);
  const received = Object.keys(args).slice(0, 50).join(", ") || "no fields";
  return {
    ok: false,
    text: `- ${faults.join("\n- ")}\nReceived: ${received}\nExpected: ${describe(schema).slice(0, 800)}`,
  };
}

function check(schema: unknown, value: unknown, place: Place): unknown {
  if (!isRecord(schema) || place.depth > MAX_DEPTH) return value;
  const inner = { ...place, depth: place.depth + 1 };
  if (typeof schema.$ref === "string") return check(resolve(place.root, schema.$ref), value, inner);
  const before = place.issues.length;
  let result = checkConstant(schema, convert(schema, value, place), place);
  if (place.issues.length > before) return result;
  if (isRecord(result)) result = checkObject(schema, result, inner);
  else if (Array.isArray(result))
    result = result.map((item, at) => check(schema.items, item, { ...inner, path: `${place.path}[${at}]` }));
  checkBounds(schema, result, place);
  for (const part of list(schema.allOf)) result = check(part, result, inner);
  return choose(list(schema.oneOf), choose(list(schema.anyOf), result, inner), inner);
}

/** Only references into the schema itself; any other one allows everything. */
function resolve(root: JsonSchema, ref: string): unknown {
  const steps = ref.split("/").slice(1);
  const into = (at: unknown, step: string) => (isRecord(at) ? own(at, step) : undefined);
  return ref.startsWith("#") ? steps.reduce<unknown>(into, root) : undefined;
}

function convert(schema: Json, value: unknown, { path, issues }: Place): unknown {
  const names = [schema.type].flat().filter((name) => typeof name === "string");
  const types = names.flatMap((name) => TYPES[name] ?? []);
  if (types.length === 0 || types.some((type) => type.is(value))) return value;
  for (const { is, read } of typeof value === "string" ? types : []) {
    const result = read?.(String(value));
    if (result !== undefined && is(result)) return result;
  }
  issues.push(`${path || "arguments"}: expected ${names.join(" or ")}, received ${show(value)}`);
  return value;
}

const show = (value: unknown) =>
  `${kindOf(value)} ${typeof value === "object" ? "" : JSON.stringify(value)}`.slice(0, 60).trim();

function checkConstant(schema: Json, value: unknown, { path, issues }: Place): unknown {
  const allowed = Object.hasOwn(schema, "const") ? [schema.const] : schema.enum;
  const read = typeof value === "string" ? parseJson(value) : undefined;
  for (const one of [value, ...(read === undefined ? [] : [read])])
    if (!Array.isArray(allowed) || allowed.some((other) => same(one, other))) return one;
  issues.push(`${path}: expected ${describe({ enum: allowed })}, received ${show(value)}`);
  return value;
}

function checkObject(schema: Json, value: Json, place: Place): Json {
  const properties = isRecord(schema.properties) ? schema.properties : {};
  const required = list(schema.required);
  const at = (key: string) => ({ ...place, path: place.path ? `${place.path}.${key}` : key });
  const fields = Object.entries(value).flatMap(([key, field]) => {
    const rule = own(properties, key) ?? (isRecord(schema.patternProperties) || schema.additionalProperties);
    if (rule === false) place.extras.push(at(key).path);
    // Null stands for an absent optional field, unless it is a value of its own.
    const absent = rule === false || (field === null && !required.includes(key) && !accepts(rule, null, place));
    return absent ? [] : [[key, check(rule, field, at(key))]];
  });
  for (const key of required.map(String))
    if (own(value, key) === undefined)
      place.issues.push(`${at(key).path}: missing, expected ${describe(own(properties, key))}`);
  return Object.fromEntries(fields);
}

function accepts(schema: unknown, value: unknown, place: Place): boolean {
  const probe: Place = { ...place, issues: [], extras: [] };
  check(schema, value, probe);
  return probe.issues.length === 0;
}

function checkBounds(schema: Json, value: unknown, { path, issues }: Place): void {
  const items = Array.isArray(value);
  const [least, most] = items
    ? ["minItems", "maxItems"]
    : typeof value === "string"
      ? ["minLength", "maxLength"]
      : ["minimum", "maximum"];
  const size = items ? value.length : typeof value === "string" ? [...value].length : value;
  if (typeof size !== "number") return;
  const faults = {
    [`${least} ${schema[least]}`]: size < Number(schema[least]),
    [`${most} ${schema[most]}`]: size > Number(schema[most]),
    [`exclusiveMinimum ${schema.exclusiveMinimum}`]: size === value && value <= Number(schema.exclusiveMinimum),
    [`exclusiveMaximum ${schema.exclusiveMaximum}`]: size === value && value >= Number(schema.exclusiveMaximum),
    [`pattern ${schema.pattern}`]: typeof value === "string" && !matches(schema.pattern, value),
  };
  for (const [rule, broken] of Object.entries(faults))
    if (broken) issues.push(`${path}: expected ${rule}, received ${items ? `${size} items` : show(value)}`);
}

function matches(pattern: unknown, text: string): boolean {
  try {
    return typeof pattern !== "string" || new RegExp(pattern, "u").test(text);
  } catch {
    return true;
  }
}

/** The branch that fits best: with the fewest faults, then the fewest fields left out, then unchanged. */
function choose(branches: unknown[], value: unknown, place: Place): unknown {
  const tried = branches.map((branch) => {
    const probe: Place = { ...place, issues: [], extras: [] };
    const result = check(branch, value, probe);
    return {
      result,
      probe,
      score: probe.issues.length * 1e6 + probe.extras.length * 2 + (same(result, value) ? 0 : 1),
    };
  });
  const [best] = tried.sort((one, other) => one.score - other.score);
  if (!best) return value;
  const plain = best.probe.issues.length > 0 && typeof value !== "object";
  const expected = `${place.path}: expected ${describe({ anyOf: branches })}, received ${show(value)}`;
  place.issues.push(...(plain ? [expected] : best.probe.issues));
  place.extras.push(...best.probe.extras);
  return best.result;
}

/** A schema in short, as TypeScript would write it. */
function describe(schema: unknown, depth = 0): string {
  if (!isRecord(schema) || depth > 4) return "any";
  const values = Object.hasOwn(schema, "const") ? [schema.const] : list(schema.enum);
  const branches = [...list(schema.anyOf), ...list(schema.oneOf)].map((branch) => describe(branch, depth + 1));
  const union = [...values.map((value) => JSON.stringify(value)), ...branches].slice(0, 12).join(" | ");
  if (union) return union;
  if (schema.type === "array") return `${describe(schema.items, depth + 1)}[]`;
  if (!isRecord(schema.properties)) return [schema.type ?? "any"].flat().join(" | ");
  const mark = (name: string) => (list(schema.required).includes(name) ? "" : "?");
  const fields = Object.entries(schema.properties).map(
    ([name, field]) => `${name}${mark(name)}: ${describe(field, depth + 1)}`,
  );
  return `{${fields.join(", ")}}`;
}
