import type { JsonSchema } from "@tau/llm";
import { attempt, isRecord, type Json, kindOf, parseJson } from "./values.ts";

export type Validation = { ok: true; args: Json } | { ok: false; text: string };
/** Where the check is. `extras` are fields that the schema does not allow: left out, and named when the call fails anyway. */
type Place = { root: JsonSchema; path: string; depth: number; issues: string[]; extras: string[] };
type Type = { is(value: unknown): boolean; read?(text: string): unknown };

const list = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
const same = (one: unknown, other: unknown) => one === other || JSON.stringify(one) === JSON.stringify(other);
const own = (value: Json, key: string) => (Object.hasOwn(value, key) ? value[key] : undefined);
const show = (value: unknown) =>
  `${kindOf(value)} ${typeof value === "object" ? "" : JSON.stringify(value)}`.slice(0, 60).trim();

/** What a type accepts, and how a string that plainly is such a value is read (C7): without loss, never a guess. */
const TYPES: Record<string, Type> = {
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
  const value = attempt(() => check(schema, args, place));
  // A schema that breaks the validator must not block its tool.
  if (value === undefined || place.issues.length === 0) return { ok: true, args: isRecord(value) ? value : args };
  const known = isRecord(schema.properties) ? schema.properties : args;
  const unknown = new Set([...place.extras, ...Object.keys(args).filter((key) => !Object.hasOwn(known, key))]);
  const faults = [...place.issues, ...[...unknown].map((path) => `${path}: unknown field`)].slice(0, 30);
  const received = Object.keys(args).slice(0, 50).join(", ") || "no fields";
  const text = `- ${faults.join("\n- ")}\nReceived: ${received}\nExpected: ${describe(schema).slice(0, 800)}`;
  return { ok: false, text };
}

function check(schema: unknown, value: unknown, place: Place): unknown {
  if (!isRecord(schema) || place.depth > 64) return value;
  const inner = { ...place, depth: place.depth + 1 };
  if (typeof schema.$ref === "string") return check(resolve(place.root, schema.$ref), value, inner);
  const before = place.issues.length;
  let result = convert(schema, value, place);
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
  const into = (at: unknown, step: string) => (isRecord(at) ? own(at, step) : undefined);
  return ref.startsWith("#") ? ref.split("/").slice(1).reduce<unknown>(into, root) : undefined;
}

/** The value in a type and among the constants that the schema allows. */
function convert(schema: Json, value: unknown, { path, issues }: Place): unknown {
  const names = [schema.type].flat().filter((name) => typeof name === "string");
  const types = names.flatMap((name) => TYPES[name] ?? []);
  const allowed = Object.hasOwn(schema, "const") ? [schema.const] : schema.enum;
  const fits = (one: unknown) =>
    (types.length === 0 || types.some(({ is }) => is(one))) &&
    (!Array.isArray(allowed) || allowed.some((other) => same(one, other)));
  if (fits(value)) return value;
  const readers = types.length > 0 ? types.flatMap(({ read }) => read ?? []) : [parseJson];
  const readings = typeof value === "string" ? readers.map((reader) => reader(value)) : [];
  const read = readings.find((one) => one !== undefined && fits(one));
  if (read !== undefined) return read;
  const expected = Array.isArray(allowed) ? describe({ enum: allowed }) : names.join(" or ");
  issues.push(`${path || "arguments"}: expected ${expected}, received ${show(value)}`);
  return value;
}

function checkObject(schema: Json, value: Json, place: Place): Json {
  const properties = isRecord(schema.properties) ? schema.properties : {};
  const required = list(schema.required).map(String);
  const at = (key: string) => ({ ...place, path: place.path ? `${place.path}.${key}` : key });
  const fields = Object.entries(value).flatMap(([key, field]) => {
    const rule = own(properties, key) ?? (isRecord(schema.patternProperties) || schema.additionalProperties);
    if (rule === false) place.extras.push(at(key).path);
    const probe: Place = { ...place, issues: [], extras: [] };
    // Null stands for an absent optional field, unless it is a value of its own.
    if (field === null && !required.includes(key)) check(rule, null, probe);
    const absent = probe.issues.length > 0;
    return rule === false || absent ? [] : [[key, check(rule, field, at(key))]];
  });
  const missing = required.filter((key) => own(value, key) === undefined);
  for (const key of missing) place.issues.push(`${at(key).path}: missing, expected ${describe(own(properties, key))}`);
  return Object.fromEntries(fields);
}

function checkBounds(schema: Json, value: unknown, { path, issues }: Place): void {
  const kind = Array.isArray(value) ? "Items" : typeof value === "string" ? "Length" : "imum";
  const size = Array.isArray(value) ? value.length : typeof value === "string" ? [...value].length : value;
  if (typeof size !== "number") return;
  const limit = (name: string) => Number(schema[name] ?? Number.NaN);
  // regexp: a schema is as much trusted as the code of its tool.
  const fits = () => typeof value !== "string" || new RegExp(String(schema.pattern ?? ""), "u").test(value);
  const broken = {
    [`min${kind}`]: size < limit(`min${kind}`),
    [`max${kind}`]: size > limit(`max${kind}`),
    exclusiveMinimum: value === size && size <= limit("exclusiveMinimum"),
    exclusiveMaximum: value === size && size >= limit("exclusiveMaximum"),
    pattern: attempt(fits) === false,
  };
  const received = Array.isArray(value) ? `${size} items` : show(value);
  for (const [rule, isBroken] of Object.entries(broken))
    if (isBroken) issues.push(`${path}: expected ${rule} ${schema[rule]}, received ${received}`);
}

/** The branch that fits best: with the fewest faults, then the fewest fields left out, then unchanged. */
function choose(branches: unknown[], value: unknown, place: Place): unknown {
  const tried = branches.map((branch) => {
    const probe: Place = { ...place, issues: [], extras: [] };
    const result = check(branch, value, probe);
    const score = probe.issues.length * 1e6 + probe.extras.length * 2 + (same(result, value) ? 0 : 1);
    return { ...probe, result, score };
  });
  const [best] = tried.sort((one, other) => one.score - other.score);
  if (!best) return value;
  const plain = best.issues.length > 0 && typeof value !== "object";
  const misfit = `${place.path}: expected ${describe({ anyOf: branches })}, received ${show(value)}`;
  place.issues.push(...(plain ? [misfit] : best.issues));
  place.extras.push(...best.extras);
  return best.result;
}

/** A schema in short, as TypeScript would write it. */
function describe(schema: unknown, depth = 0): string {
  if (!isRecord(schema) || depth > 4) return "any";
  const values = Object.hasOwn(schema, "const") ? [schema.const] : list(schema.enum);
  const branches = [...list(schema.anyOf), ...list(schema.oneOf)].map((branch) => describe(branch, depth + 1));
  const union = [...values.map((value) => JSON.stringify(value)), ...branches].slice(0, 12).join(" | ");
  const type =
    schema.type === "array" ? `${describe(schema.items, depth + 1)}[]` : [schema.type ?? "any"].flat().join(" | ");
  if (union || !isRecord(schema.properties)) return union || type;
  const mark = (name: string) => (list(schema.required).includes(name) ? "" : "?");
  const line = ([name, field]: [string, unknown]) => `${name}${mark(name)}: ${describe(field, depth + 1)}`;
  return `{${Object.entries(schema.properties).map(line).join(", ")}}`;
}
