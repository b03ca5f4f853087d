import type { ImageContent } from "@tau/llm";
import { SessionError } from "../session/session-error.ts";

/** What one field of a command has to be. */
export interface Field<T> {
  /** As it stands behind "must be". */
  readonly expected: string;
  is(value: unknown): value is T;
  readonly optional?: true;
  /** All that it can be, where they are few. */
  readonly values?: readonly string[];
}

/** A check for each field; which may be missing follows from the type of the fields. */
export type FieldChecks<Fields> = {
  readonly [Key in keyof Fields]-?: object extends Pick<Fields, Key>
    ? Field<Required<Fields>[Key]> & { readonly optional: true }
    : Field<Fields[Key]>;
};

const isText = (value: unknown): value is string => typeof value === "string";

export const text: Field<string> = { expected: "a string", is: isText };

export const flag: Field<boolean> = { expected: "true or false", is: (value) => typeof value === "boolean" };

export const count: Field<number> = {
  expected: "a number",
  is: (value): value is number => typeof value === "number" && Number.isFinite(value),
};

export const texts: Field<string[]> = {
  expected: "a list of strings",
  is: (value): value is string[] => Array.isArray(value) && value.every(isText),
};

export const images: Field<ImageContent[]> = {
  expected: 'a list of {"type": "image", "data": base64, "mimeType": "image/…"}',
  is: (value): value is ImageContent[] => Array.isArray(value) && value.every(isImage),
};

export function oneOf<const T extends string>(...values: T[]): Field<T> {
  const known: readonly string[] = values;
  return {
    values: known,
    expected: `one of ${values.map((value) => JSON.stringify(value)).join(", ")}`,
    is: (value): value is T => isText(value) && known.includes(value),
  };
}

export function optional<T>(field: Field<T>): Field<T> & { readonly optional: true } {
  return { ...field, optional: true };
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isImage(value: unknown): value is ImageContent {
  return isRecord(value) && value.type === "image" && isText(value.data) && isText(value.mimeType);
}

/**
 * The fields of a command, those that nobody knows left out. A null stands for a field that is missing, since some
 * languages write it so. @throws SessionError that names the first field that is wrong
 */
export function readFields<Fields>(record: Readonly<Record<string, unknown>>, checks: FieldChecks<Fields>): Fields {
  const found: Record<string, unknown> = {};
  for (const [name, field] of Object.entries<Field<unknown>>(checks)) {
    const value = Object.hasOwn(record, name) ? record[name] : undefined;
    if ((value === undefined || value === null) && field.optional) continue;
    if (!field.is(value)) throw new SessionError("invalid_field", `"${name}" must be ${field.expected}`);
    found[name] = value;
  }
  // Each field was checked by the check of its own name just now.
  return found as Fields;
}
