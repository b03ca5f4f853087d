import { encodeJson } from "../../stream/json.ts";

/** Fields as they stand in an object, each with a comma before it; those that are undefined are left out. */
export function fieldsJson(fields: Record<string, unknown>): string {
  return Object.entries(fields)
    .map(([name, value]) => (value === undefined ? "" : `,${JSON.stringify(name)}:${encodeJson(value)}`))
    .join("");
}
