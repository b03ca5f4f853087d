import type { JsonSchema } from "../../protocol/tool.ts";
import { isRecord } from "../../stream/json.ts";

/** Finds what a `$ref` of one schema document points to. */
export class SchemaReferences {
  readonly #root: JsonSchema;
  #named: Map<string, unknown> | undefined;

  constructor(root: JsonSchema) {
    this.#root = root;
  }

  /** The schema behind a reference inside the document; undefined for a foreign or a dangling one. */
  resolve(reference: string): unknown {
    if (reference === "#" || reference === "") return this.#root;
    if (reference.startsWith("#/")) return this.#pointer(reference.slice(2));
    this.#named ??= namedDefinitions(this.#root);
    return this.#named.get(reference);
  }

  /** RFC 6901, in its URI fragment form. */
  #pointer(path: string): unknown {
    let value: unknown = this.#root;
    for (const part of path.split("/")) {
      const key = decodePart(part).replaceAll("~1", "/").replaceAll("~0", "~");
      if (Array.isArray(value)) value = value[Number(key)];
      else value = isRecord(value) && Object.hasOwn(value, key) ? value[key] : undefined;
    }
    return value;
  }
}

/** Definitions by `$id`, `id` and `#anchor`. */
function namedDefinitions(root: JsonSchema): Map<string, unknown> {
  const named = new Map<string, unknown>();
  const groups = [root.$defs, root.definitions].filter(isRecord);
  for (const definition of groups.flatMap((group) => Object.values(group)).filter(isRecord)) {
    for (const id of [definition.$id, definition.id]) if (typeof id === "string") named.set(id, definition);
    if (typeof definition.$anchor === "string") named.set(`#${definition.$anchor}`, definition);
  }
  return named;
}

function decodePart(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    // A bare % is not an escape: the part means what it says.
    return part;
  }
}
