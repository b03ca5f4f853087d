import { nearNames } from "../platform/near-names.ts";
import type { JsonObject } from "./json-file.ts";

/** What is read of a provider in models.json. */
export const PROVIDER_FIELDS: readonly string[] = [
  ...["name", "baseUrl", "api", "apiKey", "headers", "authHeader", "compat", "models", "modelOverrides"],
];

/** What is read of a model there; `compat` takes any field, for servers of their own ways. */
export const MODEL_FIELDS: readonly string[] = [
  ...["id", "name", "api", "baseUrl", "reasoning", "thinkingLevelMap", "input", "cost", "contextWindow", "maxTokens"],
  ...["headers", "samplingParams", "samplingParamsByThinkingLevel", "compat"],
];

/** Gathers the fields of a file that nothing reads, to be reported once for each name, not for each model. */
export class UnusedFields {
  readonly #file: string;
  readonly #places = new Map<string, { first: string; count: number; hint: string }>();

  constructor(file: string) {
    this.#file = file;
  }

  /** @param at where the object is in the file */
  look(value: JsonObject, at: string, known: readonly string[]): void {
    for (const name of Object.keys(value)) {
      // Names like these are comments and links of editors.
      if (known.includes(name) || /^[$_/]/.test(name)) continue;
      const place = this.#places.get(name);
      if (place) place.count++;
      else this.#places.set(name, { first: at, count: 1, hint: hintFor(name, known) });
    }
  }

  warnings(): string[] {
    return [...this.#places].map(([name, { first, count, hint }]) => {
      const more = count > 1 ? ` and at ${count - 1} more ${count === 2 ? "place" : "places"}` : "";
      return `${this.#file}: "${name}" in ${first}${more} is not used by tau${hint}`;
    });
  }
}

function hintFor(name: string, known: readonly string[]): string {
  // One that holds another, such as `inputLimits`, is as a rule a field of its own.
  const near = nearNames(name, known).find((each) => Math.abs(each.length - name.length) <= 2);
  return near === undefined ? "" : `; did you mean "${near}"?`;
}
