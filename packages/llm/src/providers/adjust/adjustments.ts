import type { Message } from "../../protocol/message.ts";
import { isRecord } from "../../stream/json.ts";
import { nearestWord } from "./nearest-word.ts";

/** How a request is changed as a whole, beyond its single fields. */
export type RequestStyle =
  | "system-role"
  | "no-cache-marks"
  | "no-beta-header"
  | "no-reasoning-items"
  | "no-item-ids"
  | "no-strict-tools"
  | "empty-reasoning"
  | "no-reasoning"
  | "adaptive-thinking"
  | "budget-thinking"
  | "answer-after-results"
  | "mapped-tool-ids"
  | "short-tool-ids"
  | "text-beside-calls"
  | "tools-with-results"
  | "placeholder-signatures";

export interface Bounds {
  readonly min?: number;
  readonly max?: number;
}

/** What is changed in the requests to one model of one server, as its refusals asked for. Never changed in place. */
export interface Adjustments {
  /** Fields that are left out, by name or as `field.inner`. */
  readonly without: ReadonlySet<string>;
  /** Fields that go under another name. */
  readonly renamed: ReadonlyMap<string, string>;
  /** The range of a number, by field. */
  readonly bounds: ReadonlyMap<string, Bounds>;
  /** The words that a field takes; the nearest one is sent. */
  readonly words: ReadonlyMap<string, readonly string[]>;
  readonly styles: ReadonlySet<RequestStyle>;
  /** The context window that the server names, in tokens; Infinity when it named none. */
  readonly window: number;
  /** Answers whose thinking and signatures the server refused. */
  readonly refusedThinking: RefusedThinking;
}

/** Messages that are known by identity; `version` differs between any two of these, so that caches can be keyed by it. */
export interface RefusedThinking {
  readonly version: number;
  has(message: Message): boolean;
}

let versions = 0;

/** The messages of before and some more. They are not kept in memory by it. */
export function refuseThinking(before: RefusedThinking, messages: readonly Message[]): RefusedThinking {
  const more = new WeakSet<Message>(messages);
  versions++;
  return { version: versions, has: (message) => more.has(message) || before.has(message) };
}

export const NO_ADJUSTMENTS: Adjustments = {
  without: new Set(),
  renamed: new Map(),
  bounds: new Map(),
  words: new Map(),
  styles: new Set(),
  window: Number.POSITIVE_INFINITY,
  refusedThinking: { version: 0, has: () => false },
};

type Fields = Record<string, unknown>;

/** Without one of these the object around it says nothing. */
const MAKES_OBJECT: ReadonlySet<string> = new Set(["type", "budget_tokens"]);

/** The fields of a request as the server takes them. Fields that are undefined are not sent and stay so. */
export function adjustFields(fields: Fields, adjustments: Adjustments): Fields {
  if (adjustments === NO_ADJUSTMENTS) return fields;
  const { without, renamed, bounds, words } = adjustments;
  let adjusted = fields;
  if (renamed.size > 0) {
    adjusted = Object.fromEntries(Object.entries(fields).map(([name, value]) => [renamed.get(name) ?? name, value]));
  }
  for (const [path, range] of bounds) adjusted = changed(adjusted, path, (value) => within(value, range));
  for (const [path, known] of words) adjusted = changed(adjusted, path, (value) => nearestWord(value, known));
  for (const path of without) adjusted = changed(adjusted, path, () => undefined);
  return adjusted;
}

/** The fields that can be named in a refusal: each by its name, and the fields of an object as `field.inner`. */
export function fieldPaths(fields: Fields): string[] {
  return Object.entries(fields).flatMap(([name, value]) => {
    if (value === undefined) return [];
    return isRecord(value) ? [name, ...Object.keys(value).map((inner) => `${name}.${inner}`)] : [name];
  });
}

/** The value at a path; undefined when there is none. */
export function valueAt(fields: Fields, path: string): unknown {
  const [name = "", inner] = path.split(".");
  const value = Object.hasOwn(fields, name) ? fields[name] : undefined;
  if (inner === undefined) return value;
  return isRecord(value) && Object.hasOwn(value, inner) ? value[inner] : undefined;
}

/** A copy with another value at a path that has one. An object that becomes empty goes. */
function changed(fields: Fields, path: string, change: (value: unknown) => unknown): Fields {
  const before = valueAt(fields, path);
  if (before === undefined) return fields;
  const value = change(before);
  if (value === before) return fields;
  const [name = "", inner] = path.split(".");
  if (inner === undefined) return { ...fields, [name]: value };
  const rest = Object.entries({ ...asRecord(fields[name]), [inner]: value }).filter(([, kept]) => kept !== undefined);
  const gone = rest.length === 0 || (value === undefined && MAKES_OBJECT.has(inner));
  return { ...fields, [name]: gone ? undefined : Object.fromEntries(rest) };
}

const asRecord = (value: unknown): Fields => (isRecord(value) ? value : {});

function within(value: unknown, { min = Number.NEGATIVE_INFINITY, max = Number.POSITIVE_INFINITY }: Bounds): unknown {
  return typeof value === "number" ? Math.min(Math.max(value, min), max) : value;
}
