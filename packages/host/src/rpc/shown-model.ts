import type { Model } from "@tau/llm";
import { isRecord } from "../commands/fields.ts";
import { MASK } from "../platform/secret-mask.ts";
import { shownUrl } from "../platform/url-secrets.ts";

/**
 * The data of an answer as it goes to a client: models without the values of their headers and the secrets of their
 * address, which no client needs and which would end up in its logs (R309).
 */
export function shownData(data: unknown): unknown {
  if (isModel(data)) return shownModel(data);
  if (!isRecord(data)) return data;
  const { model, models } = data;
  if (isModel(model)) return { ...data, model: shownModel(model) };
  return Array.isArray(models) ? { ...data, models: models.map(shownData) } : data;
}

function shownModel(model: Model): Model {
  const { headers, baseUrl } = model;
  const names = Object.keys(headers ?? {});
  return {
    ...model,
    baseUrl: shownUrl(baseUrl),
    ...(names.length > 0 && { headers: Object.fromEntries(names.map((name) => [name, MASK])) }),
  };
}

function isModel(value: unknown): value is Model {
  return isRecord(value) && typeof value.baseUrl === "string" && typeof value.api === "string";
}
