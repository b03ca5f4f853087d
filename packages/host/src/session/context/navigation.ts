import type { Model, StreamFn } from "@tau/llm";
import type { SummaryModel } from "../../compaction/summarise.ts";
import { reasonOf } from "../../platform/thrown.ts";
import { destination, type LeftBranch, leftBehind, type Navigation, navigate } from "../../store/navigate.ts";
import type { SessionStore } from "../../store/session-store.ts";
import { THINKING_LEVELS } from "../models/thinking-levels.ts";
import type { ChainRunner } from "../run/chain-runner.ts";
import { SessionError } from "../session-error.ts";
import type { SessionParts } from "../session-parts.ts";
import { metered, usageDraft } from "../usage/side-usage.ts";
import { untilAborted } from "./session-compaction.ts";

/** Has the session's model write the summary of the branch that is left. */
export interface SummarizeLeft {
  readonly summarize: true;
  /** The user's words on what matters. */
  readonly customInstructions?: string;
}

/** What becomes of the branch that is left: nothing, a summary that is there already, or one that is written now. */
export type Leaving = LeftBranch | SummarizeLeft;

/** As the command says it. */
export function leavingOf(asked: { summarize?: boolean; customInstructions?: string }): SummarizeLeft | undefined {
  const { summarize = false, customInstructions } = asked;
  return summarize ? { summarize, ...(customInstructions !== undefined && { customInstructions }) } : undefined;
}

interface Place {
  readonly parts: SessionParts;
  readonly runner: ChainRunner;
  readonly findModel: (provider: string, modelId: string) => Promise<Model | undefined>;
}

/** A move in the tree of a session; see the command `navigate`. */
export async function goTo(place: Place, entryId: string, left?: Leaving): Promise<Navigation> {
  if (!left || "summary" in left) return place.runner.alone("navigation", () => move(place, entryId, left));
  return place.runner.alone("compaction", (signal) => summarizeAndMove(place, entryId, { ...left, signal }));
}

/** Model and thinking level become those of the point that is gone to (report R111). */
async function move({ parts, findModel }: Place, entryId: string, left?: LeftBranch): Promise<Navigation> {
  const { transcript, models, link } = parts;
  const { store } = transcript;
  checkEntry(store, entryId);
  const moved = navigate(store, entryId, left);
  const { model, thinkingLevel } = store.choice();
  const found = model && (await findModel(model.provider, model.modelId));
  const level = THINKING_LEVELS.find((each) => each === thinkingLevel);
  models.adopt(found ?? models.model, level ?? models.level);
  link.reload();
  return moved;
}

function checkEntry(store: SessionStore, entryId: string): void {
  if (!store.entry(entryId)) throw new SessionError("unknown_entry", entryId);
}

type Order = SummarizeLeft & { readonly signal: AbortSignal };

/** Nothing is moved when the summary cannot be made. What it used is noted either way. */
async function summarizeAndMove(place: Place, entryId: string, order: Order): Promise<Navigation> {
  const { requests, models, transcript, budget } = place.parts;
  const { model } = models;
  checkEntry(transcript.store, entryId);
  const meter = metered(requests.beside);
  let moved: Navigation;
  try {
    moved = await move(place, entryId, await summaryOf(place, entryId, { ...order, streamFn: meter.streamFn }));
  } finally {
    const usage = meter.used();
    budget.use(usage);
    if (usage) transcript.append(usageDraft("branch_summary", model, usage));
  }
  return { ...moved, leafId: transcript.store.leafId };
}

async function summaryOf(
  { parts }: Place,
  entryId: string,
  { signal, streamFn, customInstructions }: Order & { streamFn: StreamFn },
): Promise<LeftBranch | undefined> {
  const { models, transcript, retries } = parts;
  const { store } = transcript;
  const messages = leftBehind(store, destination(store, entryId).leafId);
  if (messages.length === 0) return undefined;
  const { summariseBranch } = await import("../../compaction/branch-summary.ts");
  const streamOptions = { sessionId: store.header.id };
  const by: SummaryModel = {
    ...{ model: models.model, thinkingLevel: models.level, streamFn, streamOptions, signal },
    waitToRetry: (reply, attempt) => retries.waitForSummary(reply, attempt, signal),
  };
  try {
    const made = await untilAborted(summariseBranch(messages, by, customInstructions), signal);
    if (!made) throw new Error("it was aborted");
    return { summary: made.text, details: made.details };
  } catch (error) {
    const reason = reasonOf(error);
    throw new Error(`The branch could not be summarised, so the session stays where it was: ${reason}.`, {
      cause: error,
    });
  }
}
