import type { ModelCost, PriceTier, TokenPrices } from "@tau/llm";
import { type ConfigError, configError } from "./config-error.ts";
import { isHeaderName } from "./header-text.ts";
import { isObject, type JsonObject } from "./json-file.ts";
import { normalSecret } from "./secret-text.ts";

/** A place in the file; each reader gives the value, or undefined when it is absent, or throws with the place. */
export class Field {
  readonly #file: string;
  /** Dotted, from the top of the file. */
  readonly path: string;

  constructor(file: string, path: string) {
    this.#file = file;
    this.path = path;
  }

  sub(name: string): Field {
    return new Field(this.#file, this.path === "" ? name : `${this.path}.${name}`);
  }

  /** @param problem what is wrong, with the remedy behind a semicolon where there is a better one than the usual */
  error(problem: string): ConfigError {
    return configError("field_invalid", { path: this.#file, field: this.path, problem });
  }

  text(value: unknown, name: string): string | undefined {
    if (value === undefined || value === null) return undefined;
    if (typeof value !== "string" || value === "") throw this.sub(name).error("must be a text that is not empty");
    return value;
  }

  bool(value: unknown, name: string): boolean | undefined {
    if (value === undefined || value === null) return undefined;
    if (typeof value !== "boolean") throw this.sub(name).error("must be true or false");
    return value;
  }

  count(value: unknown, name: string): number | undefined {
    if (value === undefined || value === null) return undefined;
    if (typeof value !== "number" || !(value > 0)) throw this.sub(name).error("must be a number of tokens above 0");
    return Math.floor(value);
  }

  object(value: unknown, name: string): JsonObject | undefined {
    if (value === undefined || value === null) return undefined;
    if (!isObject(value)) throw this.sub(name).error("must be an object");
    return value;
  }

  /** An object whose fields are objects. */
  objects(value: unknown, name: string): Record<string, JsonObject> | undefined {
    const object = this.object(value, name);
    if (!object) return undefined;
    const place = this.sub(name);
    return Object.fromEntries(Object.entries(object).map(([key, inner]) => [key, place.object(inner, key) ?? {}]));
  }

  url(value: unknown, name: string): string | undefined {
    const text = this.text(value, name);
    if (text === undefined) return undefined;
    // A file URL is the script of a scripted model.
    if (!/^(https?:\/\/[^/\s]|file:\/\/\/)/i.test(text) || !URL.canParse(text)) {
      throw this.sub(name).error(`must be a URL such as http://127.0.0.1:11434/v1, not "${text}"`);
    }
    return text.replace(/(?<!\/)\/+$/, "");
  }

  secret(value: unknown, name: string): string | undefined {
    const text = this.text(value, name);
    return text === undefined ? undefined : normalSecret(text);
  }

  secrets(value: unknown, name: string): Record<string, string> | undefined {
    const headers = this.object(value, name);
    if (!headers) return undefined;
    const out: Record<string, string> = {};
    for (const [header, text] of Object.entries(headers)) {
      if (typeof text !== "string") throw this.sub(`${name}.${header}`).error("must be a text");
      if (!isHeaderName(header))
        throw this.sub(name).error(
          `has "${header}", which is not the name of a header; use letters, digits and dashes`,
        );
      out[header] = normalSecret(text);
    }
    return out;
  }

  input(value: unknown): ("text" | "image")[] | undefined {
    if (value === undefined || value === null) return undefined;
    const kinds = Array.isArray(value) ? value.filter((kind) => kind === "text" || kind === "image") : [];
    if (!Array.isArray(value) || kinds.length !== value.length) {
      throw this.sub("input").error('must be a list of "text" and "image"');
    }
    return kinds;
  }

  cost(value: unknown): Partial<ModelCost> | undefined {
    const given = this.object(value, "cost");
    if (!given) return undefined;
    const tiers = this.sub("cost").tiers(given.tiers);
    return { ...this.prices(given, "cost"), ...(tiers && { tiers }) };
  }

  tiers(value: unknown): PriceTier[] | undefined {
    if (value === undefined || value === null) return undefined;
    if (!Array.isArray(value)) throw this.sub("tiers").error("must be a list of prices");
    return value.map((item: unknown, index) => {
      const place = this.sub(`tiers[${index}]`);
      if (!isObject(item)) throw place.error("must be an object");
      const { input, output, cacheRead, cacheWrite } = this.prices(item, `tiers[${index}]`);
      const inputTokensAbove = place.count(item.inputTokensAbove, "inputTokensAbove");
      if (inputTokensAbove === undefined)
        throw place.sub("inputTokensAbove").error("is missing; give a number of tokens");
      if (input === undefined || output === undefined || cacheRead === undefined || cacheWrite === undefined)
        throw place.error("needs all of input, output, cacheRead and cacheWrite");
      return { inputTokensAbove, input, output, cacheRead, cacheWrite };
    });
  }

  prices(given: JsonObject, name: string): Partial<TokenPrices> {
    const out: Partial<TokenPrices> = {};
    for (const part of ["input", "output", "cacheRead", "cacheWrite"] as const) {
      const price = given[part];
      if (price === undefined || price === null) continue;
      if (typeof price !== "number" || !(price >= 0)) {
        throw this.sub(`${name}.${part}`).error("must be a price in dollars a million tokens");
      }
      out[part] = price;
    }
    return out;
  }
}
