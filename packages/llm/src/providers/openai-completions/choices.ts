import { isRecord } from "../../stream/json.ts";

type Json = Record<string, unknown>;

/** The other choices of a reply, as far as they came. */
export interface OtherChoice {
  deltas: Json[];
  finishReason: string | undefined;
}

/**
 * Which choice of a chunk is the reply. One is asked for. Some servers put the call into a second choice, or leave the
 * first one empty (R201); others send a second answer, which is an alternative (R321). So the first choice streams,
 * and the others wait for the end.
 */
export class Choices {
  #first: number | undefined;
  readonly #others = new Map<number, OtherChoice>();

  /** The choices of a chunk that belong to the first one; pieces of the others are kept. */
  firstOf(list: unknown): readonly Json[] {
    if (!Array.isArray(list)) return isRecord(list) ? [list] : [];
    // The usual chunk.
    if (list.length === 1 && isRecord(list[0]) && (this.#first ?? list[0].index ?? 0) === (list[0].index ?? 0)) {
      this.#first ??= placeOf(list[0], 0);
      return list;
    }
    const placed = list.flatMap((choice: unknown, at) =>
      isRecord(choice) ? [{ choice, place: placeOf(choice, at) }] : [],
    );
    if (placed.length === 0) return [];
    this.#first ??= Math.min(...placed.slice(0, MAX_CHOICES).map(({ place }) => place));
    for (const { choice, place } of placed) if (place !== this.#first) this.#keep(choice, place);
    return placed.flatMap(({ choice, place }) => (place === this.#first ? [choice] : []));
  }

  /** The other choices in the order of their places. */
  others(): OtherChoice[] {
    return [...this.#others].sort(([a], [b]) => a - b).map(([, other]) => other);
  }

  #keep(choice: Json, place: number): void {
    const other = this.#others.get(place) ?? { deltas: [], finishReason: undefined };
    if (!this.#others.has(place)) this.#others.set(place, other);
    const delta = saidIn(choice, other.deltas.length === 0);
    if (delta) other.deltas.push(delta);
    if (typeof choice.finish_reason === "string" && choice.finish_reason !== "") {
      other.finishReason = choice.finish_reason;
    }
  }
}

/** Far more than any server sends; the rest of a list is never the first one. */
const MAX_CHOICES = 1000;

/** The delta of a choice; a whole message counts when no pieces of it came: some servers send it behind them once more. */
export function saidIn(choice: Json, empty: boolean): Json | undefined {
  if (isRecord(choice.delta)) return choice.delta;
  return empty && isRecord(choice.message) ? choice.message : undefined;
}

function placeOf({ index }: Json, at: number): number {
  return typeof index === "number" && Number.isFinite(index) ? index : at;
}
