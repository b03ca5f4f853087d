import { FileProblem } from "../../platform/file-problem.ts";
import { nearestRegion } from "./nearest.ts";
import type { Search } from "./place.ts";
import type { TextLines } from "./text-lines.ts";

/** Why one edit of a call cannot be done; `index` is its place in the call, from 0. */
export type Failure =
  | { readonly index: number; readonly kind: "empty" | "same" }
  | { readonly index: number; readonly kind: "overlap"; readonly with: number }
  | {
      readonly index: number;
      readonly kind: "search";
      readonly oldText: string;
      readonly search: Exclude<Search, { found: "one" }>;
    };

export interface Explained {
  readonly path: string;
  readonly lines: TextLines;
  /** Edits in the call; with one there is no need to say which. */
  readonly count: number;
  readonly isStale: boolean;
}

/** At most so many failures show a region of the file. */
const MAX_SHOWN = 5;

/** One problem for the whole call: what is wrong with each edit, and what the file holds there now (R052, R065). */
export function explainFailures(failures: readonly Failure[], about: Explained): FileProblem {
  const [first] = failures;
  const parts = [...failures]
    .sort((a, b) => a.index - b.index)
    .map(
      (failure, at) => (about.count > 1 ? `edits[${failure.index}]: ` : "") + explain(failure, about, at < MAX_SHOWN),
    );
  const stale = about.isStale ? `${about.path} has changed on disk since it was read. ` : "";
  return new FileProblem(first?.kind ?? "search", `${stale}Nothing was changed. ${parts.join("\n")}`);
}

function explain(failure: Failure, { path, lines }: Explained, mayShow: boolean): string {
  switch (failure.kind) {
    case "empty":
      return "oldText is empty. To fill or replace the whole file use write; to insert, give the line next to the place.";
    case "same":
      return "oldText and newText are the same: there is nothing to change.";
    case "overlap":
      return `it overlaps with edits[${failure.with}]. Put both into one edit.`;
    case "search":
      return explainSearch(failure, { path, lines, mayShow });
  }
}

interface Shown {
  readonly path: string;
  readonly lines: TextLines;
  readonly mayShow: boolean;
}

function explainSearch(failure: Failure & { kind: "search" }, { path, lines, mayShow }: Shown): string {
  const { search, oldText } = failure;
  if (search.found === "many") return explainMany(search, oldText, { path, lines, mayShow });
  if (search.found === "uneven") {
    const { firstLine, lastLine } = search;
    return `oldText is in ${path} with another indentation. Use the exact text of lines ${firstLine}-${lastLine}:\n${lines.show(firstLine, lastLine)}`;
  }
  const near = mayShow ? nearestRegion(lines, oldText) : undefined;
  if (!near) return `oldText was not found in ${path}, nor anything near it. Read the file again.`;
  const { firstLine, lastLine } = near;
  return `oldText was not found in ${path}. The nearest lines are ${firstLine}-${lastLine}:\n${lines.show(firstLine, lastLine)}`;
}

function explainMany(
  { starts, how }: Extract<Search, { found: "many" }>,
  oldText: string,
  { path, lines, mayShow }: Shown,
): string {
  const numbers = starts.map((start) => lines.numberAt(start));
  const list = `oldText is ambiguous: it fits ${starts.length} places in ${path}, at lines ${numbers.join(", ")}`;
  if (how === "exact" || how === "lineEnds") return `${list}. Add lines around it until it is unique.`;
  const height = oldText.replace(/\n$/, "").split("\n").length;
  const regions = numbers.slice(0, 3).map((number) => lines.show(number, number + height - 1, 15));
  const why = how === "indentation" ? "with another indentation" : "when look-alike characters and spaces are folded";
  return `${list}, ${why}. Use the exact text of one${mayShow ? `:\n${regions.join("\n--\n")}` : "."}`;
}
