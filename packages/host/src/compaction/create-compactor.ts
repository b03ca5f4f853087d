import type { AgentMessage } from "@tau/agent";
import type { CompactionEntry } from "../store/entries.ts";
import type { Projection, SessionStore } from "../store/session-store.ts";
import type { FactsOf } from "../tools/call-facts.ts";
import { type CompactionSettings, DEFAULT_COMPACTION, keepBudget, threshold } from "./budget.ts";
import type { CompactionRequest, CompactionResult, Compactor, ContextUse } from "./compactor.ts";
import { type Cut, findCut, lastUserIndex } from "./cut.ts";
import { summarise } from "./summarise.ts";
import { collectTouchedFiles, describeTouchedFiles, type TouchedFiles, touchedFilesOf } from "./touched-files.ts";
import { clip, contentText, describeMessage } from "./transcript-text.ts";

/** Failures in a row after which the threshold no longer starts a compaction by itself (report R115). */
const MOST_FAILURES = 2;
/** Growth, as a share of the window, before a context that a compaction left above the threshold is cut again. */
const GROWTH_BEFORE_AGAIN = 0.1;
/** Characters of the last user instruction that a summary carries word for word (report R123). */
const INSTRUCTION_CHARS = 8_000;
/** After an overflow half the usual tail is kept: the server's count is above the estimate. */
const OVERFLOW_KEEP = 0.5;

/**
 * The compactor: a summary of the old part, written by the session's model, and the recent part word for
 * word. It never loops (two failures, or a cut that did not help, switch the threshold off until the context has
 * grown) and never makes the context larger.
 * @param factsOf the tools of the session, to note which files they touched; default: the built-in ones
 */
export function createCompactor(settings: CompactionSettings = DEFAULT_COMPACTION, factsOf?: FactsOf): Compactor {
  let failures = 0;
  let floor = 0;
  return {
    shouldCompact({ tokens, contextWindow }: ContextUse): boolean {
      if (tokens <= threshold(contextWindow, settings)) {
        failures = 0;
        floor = 0;
        return false;
      }
      return settings.enabled && failures < MOST_FAILURES && tokens > floor;
    },
    async compact(request: CompactionRequest): Promise<CompactionResult | undefined> {
      try {
        const result = await compactOnce(request, settings, factsOf);
        failures = 0;
        floor = (result?.estimatedTokensAfter ?? request.tokens) + request.model.contextWindow * GROWTH_BEFORE_AGAIN;
        return result;
      } catch (error) {
        failures += 1;
        throw error;
      }
    },
  };
}

async function compactOnce(
  request: CompactionRequest,
  settings: CompactionSettings,
  factsOf: FactsOf | undefined,
): Promise<CompactionResult | undefined> {
  const projection = request.store.projection();
  const cut = chooseCut(projection.messages, request, settings);
  const firstKeptEntryId = cut && projection.entryIds[cut.index];
  if (!cut || firstKeptEntryId === undefined) return undefined;
  const old = projection.messages.slice(0, cut.index);
  const before = newestCompaction(request.store)?.details;
  const files = collectTouchedFiles(old, touchedFilesOf(before), factsOf);
  const instruction = cut.splitsTurn ? (lastInstruction(old) ?? instructionOf(before)) : undefined;
  const { text, usage } = await summarise(
    old.map(describeMessage).filter(Boolean),
    summaryInput(old, request),
    request,
  );
  const summary = text + describeInstruction(instruction) + describeTouchedFiles(files);
  const details = { ...files, ...(instruction ? { lastInstruction: instruction } : {}) };
  return finish({ request, projection, cut, summary, details, firstKeptEntryId, ...(usage ? { usage } : {}) });
}

function chooseCut(messages: readonly AgentMessage[], request: CompactionRequest, settings: CompactionSettings) {
  const full = keepBudget(request.model.contextWindow, settings);
  const budget = request.reason === "overflow" ? full * OVERFLOW_KEEP : full;
  return findCut(messages, budget, (message) => request.countTokens(message));
}

function summaryInput(old: readonly AgentMessage[], { instructions }: CompactionRequest) {
  const previous = old.find((message) => message.role === "compactionSummary");
  return {
    subject: "session" as const,
    ...(previous?.role === "compactionSummary" ? { previous: previous.summary } : {}),
    ...(instructions ? { instructions } : {}),
  };
}

/** A turn that is cut in two loses its user message: its words are carried on behind the summary. */
function lastInstruction(old: readonly AgentMessage[]): string | undefined {
  const message = old[lastUserIndex(old, old.length) ?? -1];
  return message?.role === "user" ? clip(contentText(message.content), INSTRUCTION_CHARS) : undefined;
}

/** The instruction that an older compaction carried, when the same turn is cut again. */
function instructionOf(details: unknown): string | undefined {
  if (typeof details !== "object" || details === null || !("lastInstruction" in details)) return undefined;
  return typeof details.lastInstruction === "string" ? details.lastInstruction : undefined;
}

const describeInstruction = (text: string | undefined) =>
  text ? `\n\n## The user's last instruction, word for word\n${text}` : "";

/** What a compaction entry's `details` hold. */
interface CompactionDetails extends TouchedFiles {
  readonly lastInstruction?: string;
}

interface Finished {
  readonly request: CompactionRequest;
  readonly projection: Projection;
  readonly cut: Cut;
  readonly summary: string;
  readonly details: CompactionDetails;
  readonly firstKeptEntryId: string;
  readonly usage?: CompactionResult["usage"];
}

function finish({ request, projection, cut, summary, details, firstKeptEntryId, usage }: Finished): CompactionResult {
  const count = (messages: readonly AgentMessage[]) =>
    messages.reduce((sum, message) => sum + request.countTokens(message), 0);
  const summaryTokens = count([{ role: "compactionSummary", summary, tokensBefore: request.tokens, timestamp: 0 }]);
  const saved = count(projection.messages.slice(0, cut.index)) - summaryTokens;
  if (saved <= 0) throw new Error("the summary is not shorter than what it stands for");
  return {
    summary,
    firstKeptEntryId,
    tokensBefore: request.tokens,
    estimatedTokensAfter: Math.max(0, request.tokens - saved),
    details,
    ...(usage ? { usage } : {}),
  };
}

function newestCompaction(store: SessionStore): CompactionEntry | undefined {
  const branch = store.branch();
  for (let i = branch.length - 1; i >= 0; i--) {
    const entry = branch[i];
    if (entry?.type === "compaction") return entry;
  }
  return undefined;
}
