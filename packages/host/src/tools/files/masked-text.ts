import { FileProblem } from "../../platform/file-problem.ts";
import { MASK } from "../../platform/secret-mask.ts";
import type { ToolEnvironment } from "../definition.ts";

export interface MaskedChange {
  /** As the model gave it, for messages. */
  readonly path: string;
  /** What the file holds now. */
  readonly before: string;
  /** What the model wants to be there, or to be replaced. */
  readonly given: readonly string[];
}

/**
 * Refuses a change that has the mask of a key in it while the file holds the key itself: it would put the mask in the
 * place of the key, which the model has never seen (report R244).
 * @throws FileProblem
 */
export function refuseMask({ path, before, given }: MaskedChange, { mask }: Pick<ToolEnvironment, "mask">): void {
  if (!given.some((text) => text.includes(MASK)) || before.includes(MASK)) return;
  if (!mask || mask(before) === before) return;
  throw new FileProblem(
    "MASKED",
    `${MASK} stands for a key in ${path} that is not shown. Nothing was changed, so that the key stays: ` +
      "use edit, with oldText and newText that leave the key out.",
  );
}
