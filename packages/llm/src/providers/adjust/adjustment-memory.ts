import type { Model } from "../../protocol/model.ts";
import { type Adjustments, NO_ADJUSTMENTS } from "./adjustments.ts";

const known = new Map<string, Adjustments>();

/** What was learned of the server and the model, for the life of the process. */
export function adjustmentsFor(model: Model): Adjustments {
  return known.get(keyOf(model)) ?? NO_ADJUSTMENTS;
}

export function rememberAdjustments(model: Model, adjustments: Adjustments): void {
  known.set(keyOf(model), adjustments);
}

/** Forgets everything, for tests. */
export function forgetAdjustments(): void {
  known.clear();
}

const keyOf = ({ api, baseUrl, id }: Model) => JSON.stringify([api, baseUrl, id]);
