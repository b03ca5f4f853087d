import type { RunOutcome } from "@tau/host";
import { shortId } from "@tau/host/program";

/** So much of the end of an id is enough for `--session`, as a rule. */
const ID_CHARS = 8;

export interface Closing {
  readonly model: { readonly provider: string; readonly id: string };
  /** Those of this process. */
  readonly outcomes: readonly Pick<RunOutcome, "usage" | "cost">[];
  /** Since the process began. */
  readonly milliseconds: number;
  /** Absent for a session that is not kept. */
  readonly sessionId: string | undefined;
}

/** One line about a run: model, tokens, cost, time, and how to continue. */
export function closingLine({ model, outcomes, milliseconds, sessionId }: Closing): string {
  const tokens = outcomes.reduce((sum, { usage }) => sum + usage.totalTokens, 0);
  const cost = outcomes.reduce((sum, outcome) => sum + outcome.cost, 0);
  const parts = [
    `${model.provider}/${model.id}`,
    `${tokens.toLocaleString("en")} tokens`,
    `$${cost.toFixed(cost < 0.1 ? 4 : 2)}`,
    `${(milliseconds / 1000).toFixed(1)} s`,
    sessionId === undefined ? "session not kept" : `continue: tau --session ${shortId(sessionId, ID_CHARS)} -p "…"`,
  ];
  return `~ ${parts.join(", ")}`;
}
