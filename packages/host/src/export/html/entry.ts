import { assertNever } from "../../platform/assert-never.ts";
import type { CompactionEntry, ContextEditEntry, Entry } from "../../store/entries.ts";
import { asText, nameOf, textOf } from "../entry-text.ts";
import { tokens } from "../figures.ts";
import { amount } from "../ledger.ts";
import { escapeHtml } from "./escape.ts";
import { messageHtml, modelOf, type Said, type Surroundings } from "./message.ts";
import { entryAttributes, labelHtml, type PageContext, proseHtml, timeHtml } from "./page-context.ts";
import type { Answer } from "./tool-call.ts";

/** The entries of a chain as HTML, in pieces; the results of a batch are shown with their calls. */
export function* entriesHtml(page: PageContext, numbers: readonly number[]): Generator<string> {
  let modelBefore: string | undefined;
  for (let at = 0; at < numbers.length; ) {
    const number = numbers[at] ?? 0;
    const entry = page.read(number);
    at++;
    if (!entry) {
      yield `<p class="marker" id="e${number}">This entry cannot be shown.</p>\n`;
      continue;
    }
    const { answers, count } = answersAfter(page, numbers.slice(at, at + callsIn(entry)));
    yield entryHtml(page, { number, entry }, { answers, modelBefore });
    // Those that no call took.
    for (const answer of [...answers.values()].flat()) yield messageHtml(page, answer, NOTHING_AROUND);
    at += count;
    if (entry.type === "message" && entry.message.role === "assistant") modelBefore = modelOf(entry.message);
  }
}

const NOTHING_AROUND: Surroundings = { answers: new Map(), modelBefore: undefined };

function callsIn(entry: Entry): number {
  if (entry.type !== "message" || entry.message.role !== "assistant") return 0;
  return entry.message.content.filter((block) => block.type === "toolCall").length;
}

/** The results directly after a message, at most one for each of its calls. */
function answersAfter(page: PageContext, numbers: readonly number[]) {
  const answers = new Map<string, Answer[]>();
  let count = 0;
  for (const number of numbers) {
    const next = page.read(number);
    if (next?.type !== "message" || next.message.role !== "toolResult") break;
    const id = asText(next.message.toolCallId);
    const same = answers.get(id) ?? [];
    same.push({ number, message: next.message });
    answers.set(id, same);
    count++;
  }
  return { answers, count };
}

function entryHtml(
  page: PageContext,
  { number, entry }: { number: number; entry: Entry },
  around: Surroundings,
): string {
  switch (entry.type) {
    case "message":
      return messageHtml(page, { number, message: entry.message }, around);
    case "custom_message":
      return messageHtml(page, customMessage(number, entry), around);
    case "compaction":
      return summaryHtml(page, { number, title: compactionTitle(entry), text: entry.summary, time: entry.timestamp });
    case "branch_summary":
      return summaryHtml(page, {
        number,
        title: "Summary of a branch that was left",
        text: entry.summary,
        time: entry.timestamp,
      });
    case "model_change":
      return markerHtml(
        page,
        number,
        `Model: <b dir="auto">${escapeHtml(`${nameOf(entry.provider)}/${nameOf(entry.modelId)}`)}</b>`,
      );
    case "thinking_level_change":
      return markerHtml(page, number, `Thinking: <b>${escapeHtml(nameOf(entry.thinkingLevel))}</b>`);
    case "context_edit":
      return contextEditHtml(page, number, entry);
    case "usage":
    case "custom":
    case "label":
    case "session_info":
      return "";
    default:
      return assertNever(entry, "");
  }
}

function customMessage(number: number, entry: Extract<Entry, { type: "custom_message" }>): Said {
  const { customType, content, display, timestamp } = entry;
  return { number, message: { role: "custom", customType, content, display, timestamp: Date.parse(timestamp) || 0 } };
}

function markerHtml(page: PageContext, number: number, html: string): string {
  return `<p ${entryAttributes(page, number, "marker")}>${html}${labelHtml(page, number)}</p>\n`;
}

function compactionTitle({ tokensBefore }: CompactionEntry): string {
  const before = amount(tokensBefore);
  return `Compacted${before > 0 ? ` at ${tokens(before)} tokens` : ""}: from here on the model sees this summary of what came before`;
}

interface Summary {
  number: number;
  title: string;
  text: string;
  time: string;
}

function summaryHtml(page: PageContext, { number, title, text, time }: Summary): string {
  return (
    `<details ${entryAttributes(page, number, "marker compaction")}><summary>${title}${labelHtml(page, number)}${timeHtml(time)}</summary>` +
    `<div class="inside">${proseHtml(page, asText(text))}</div></details>\n`
  );
}

function contextEditHtml(page: PageContext, number: number, { targetId, replacement }: ContextEditEntry): string {
  const target = page.outline.numbers.get(targetId);
  const link = target === undefined ? "an entry" : `<a href="#e${target}">an earlier entry</a>`;
  if (replacement === null) return markerHtml(page, number, `Took ${link} out of the model’s context`);
  const content = typeof replacement === "object" && "content" in replacement ? replacement.content : replacement;
  return (
    `<details ${entryAttributes(page, number, "marker")}><summary>Changed what the model sees of ${link}</summary>` +
    `<div class="inside">${proseHtml(page, textOf(content))}</div></details>\n`
  );
}
