import { isRecord } from "../stream/json.ts";

/** What a strict server of this kind additionally refuses or lets pass. */
export interface StrictRules {
  /** Regular expression that each tool-call id must match. Default: OpenAI up to 40 characters, its Responses API 64, Anthropic `^[a-zA-Z0-9_-]{1,64}$`. */
  toolIdPattern?: string;
  /** Top-level request keys that are fine besides the API's own. */
  extraKeys?: readonly string[];
  /** Top-level request keys that this server does not know, e.g. `stream_options`. */
  forbiddenKeys?: readonly string[];
  /** System messages may come after the conversation has begun. Default false. */
  midSystem?: boolean;
  /** JSON Schema keywords that make the request invalid, anywhere in a tool's parameters. Default none. */
  forbiddenSchemaKeywords?: readonly string[];
  /** Thinking signatures that this server has given out; others are refused. Default: all are taken. */
  knownSignatures?: ReadonlySet<string>;
  /** Messages of one role may follow each other, as the Messages API takes them. Default false: tau sends one. */
  repeatedRoles?: boolean;
  /** Tools need not say whether their schema is strict. Default false: tau says so. */
  unstatedStrictness?: boolean;
  /** The Responses API of a local server: reasoning goes back as plain text. Default: encrypted only. */
  plainReasoning?: boolean;
}

export type Json = Record<string, unknown>;

const TOOL_NAME = /^[A-Za-z0-9_-]{1,64}$/;

/** Collects what is wrong with one request, each with the path to it. */
export class Findings {
  readonly list: string[] = [];

  add(path: string, problem: string): void {
    this.list.push(`${path}: ${problem}`);
  }

  /** Reports keys that are not allowed. False when `value` is not an object at all. */
  object(value: unknown, path: string, allowed: readonly string[]): value is Json {
    if (!isRecord(value)) {
      this.add(path, "must be an object");
      return false;
    }
    for (const key of Object.keys(value)) if (!allowed.includes(key)) this.add(`${path}.${key}`, "unknown key");
    return true;
  }

  /** The top of a request: the API's keys and those of the rules. */
  body(value: unknown, keys: readonly string[], rules: StrictRules): value is Json {
    const { extraKeys = [], forbiddenKeys = [] } = rules;
    return this.object(
      value,
      "body",
      [...keys, ...extraKeys].filter((key) => !forbiddenKeys.includes(key)),
    );
  }

  array(value: unknown, path: string): value is unknown[] {
    if (Array.isArray(value) && value.length > 0) return true;
    this.add(path, "must be a non-empty array");
    return false;
  }

  /** A string with something in it. */
  filled(value: unknown, path: string): value is string {
    if (typeof value === "string" && value !== "") return true;
    this.add(path, `must be a non-empty string, is ${JSON.stringify(value) ?? "missing"}`);
    return false;
  }

  toolName(value: unknown, path: string): void {
    if (typeof value !== "string" || !TOOL_NAME.test(value)) this.add(path, `must match ${TOOL_NAME}`);
  }

  toolId(value: unknown, path: string, pattern: RegExp): void {
    if (this.filled(value, path) && !pattern.test(value)) this.add(path, `id ${value} must match ${pattern}`);
  }
}

/** The strings of a request that are not text: half of a surrogate pair cannot be sent as UTF-8. */
export function checkStrings(value: unknown, path: string, findings: Findings): void {
  if (typeof value === "string") {
    if (/\p{Surrogate}/u.test(value)) findings.add(path, "lone surrogate");
  } else if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) checkStrings(item, `${path}[${index}]`, findings);
  } else if (isRecord(value)) {
    for (const [key, field] of Object.entries(value))
      checkStrings(field, path === "" ? key : `${path}.${key}`, findings);
  }
}

/** Keywords of a schema that the server does not know; names of properties are not keywords. */
export function checkSchema(schema: unknown, path: string, check: { rules: StrictRules; findings: Findings }): void {
  const { rules, findings } = check;
  if (!isRecord(schema)) {
    findings.add(path, "must be a JSON Schema object");
    return;
  }
  if (schema.type !== "object") findings.add(`${path}.type`, `must be "object"`);
  const forbidden = rules.forbiddenSchemaKeywords ?? [];
  if (forbidden.length > 0) checkKeywords(schema, path, { forbidden, findings });
}

function checkKeywords(
  schema: unknown,
  path: string,
  check: { forbidden: readonly string[]; findings: Findings },
): void {
  if (Array.isArray(schema)) {
    for (const [index, item] of schema.entries()) checkKeywords(item, `${path}[${index}]`, check);
    return;
  }
  if (!isRecord(schema)) return;
  for (const [key, value] of Object.entries(schema)) {
    if (check.forbidden.includes(key)) check.findings.add(`${path}.${key}`, "unknown schema keyword");
    if (key === "enum" || key === "const" || key === "default" || key === "examples") continue;
    if (key === "properties" && isRecord(value)) {
      for (const [name, sub] of Object.entries(value)) checkKeywords(sub, `${path}.properties.${name}`, check);
    } else {
      checkKeywords(value, `${path}.${key}`, check);
    }
  }
}

/** Tool calls that wait for their results: each is answered once, at once, and never from nowhere. */
export class Pairing {
  readonly #findings: Findings;
  readonly #seen = new Set<string>();
  #open = new Set<string>();

  constructor(findings: Findings) {
    this.#findings = findings;
  }

  call(id: unknown, path: string): void {
    if (typeof id !== "string") return;
    if (this.#seen.has(id)) this.#findings.add(path, `tool call id ${id} is used twice`);
    this.#seen.add(id);
    this.#open.add(id);
  }

  result(id: unknown, path: string): void {
    if (typeof id !== "string" || !this.#open.delete(id)) {
      this.#findings.add(path, `result for ${String(id)}, which no call directly before it waits for`);
    }
  }

  /** Nothing may come now before all results are there. */
  settle(path: string): void {
    for (const id of this.#open) this.#findings.add(path, `tool call ${id} has no result directly after it`);
    this.#open = new Set();
  }
}
