import type { FoldedText, FoldLevel } from "./folded-text.ts";

/** Where an edit applies. Places are UTF-16 indexes into the decoded text. */
export interface Place {
  readonly start: number;
  readonly end: number;
  readonly how: "exact" | FoldLevel | "indentation";
  /** As the model gave it. */
  readonly oldText: string;
  /** As the model gave it, or shifted when the old one was found so (R065). */
  readonly newText: string;
  /** For notes: what the indentation differed by. */
  readonly shift?: string;
  /** The folded match, for keeping the lines that the edit does not change. */
  readonly folded?: { readonly view: FoldedText; readonly at: number; readonly text: string };
}

export type Search =
  | { readonly found: "one"; readonly place: Place }
  | { readonly found: "none" }
  | { readonly found: "many"; readonly starts: readonly number[]; readonly how: Place["how"] }
  /** One block differs by its indentation only, but not evenly: shown, not changed (R065). */
  | { readonly found: "uneven"; readonly firstLine: number; readonly lastLine: number };
