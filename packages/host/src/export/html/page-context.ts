import type { Entry } from "../../store/entries.ts";
import { clip, omission } from "../clip.ts";
import { moment } from "../figures.ts";
import { editOn, type Outline } from "../outline.ts";
import { markdownHtml } from "./blocks.ts";
import { escapeHtml } from "./escape.ts";

/** What the parts of the page need to know of the whole. */
export interface PageContext {
  readonly outline: Outline;
  /** Chains of the branch that is shown first. */
  readonly shown: ReadonlySet<number>;
  /** Characters of one text that are shown at most. */
  readonly maxText: number;
  /** Characters of one tool result, of one set of arguments, of one diff. */
  readonly maxResult: number;
  /** An entry by its number, its secrets masked. */
  read(number: number): Entry | undefined;
}

/**
 * The attributes of an entry's element: where links find it, and on which branches it is edited. `3h` says that the
 * edit in chain 3 hides it, `3r` that it puts something else in its place; the page's script reads it.
 */
export function entryAttributes(page: PageContext, number: number, classes: string): string {
  const edits = page.outline.edits.get(number);
  if (!edits) return `id="e${number}" class="${classes}"`;
  const edit = editOn(page.shown, edits);
  const state = edit ? (edit.hides ? " dropped" : " replaced") : "";
  const list = edits.map(({ chain, hides }) => `${chain}${hides ? "h" : "r"}`).join(" ");
  return `id="e${number}" class="${classes}${state}" data-edits="${list}"`;
}

/** Said on entries that some branch edits; the style shows it where it holds. */
export function editNote(page: PageContext, number: number): string {
  if (!page.outline.edits.has(number)) return "";
  return (
    `<p class="note edited-out">Not in the model’s context: taken out after it was said.</p>` +
    `<p class="note edited-over">The model sees other content in its place.</p>`
  );
}

export function labelHtml(page: PageContext, number: number): string {
  const label = page.outline.labels.get(number);
  return label ? ` <span class="label" dir="auto">${escapeHtml(label)}</span>` : "";
}

export function timeHtml(timestamp: unknown): string {
  const time = moment(timestamp);
  return time ? `<time datetime="${time.iso}">${time.shown}</time>` : "";
}

/** Prose of a session: Markdown, cut when it is huge. */
export function proseHtml(page: PageContext, text: string): string {
  if (text.trim() === "") return "";
  const { head, omitted, tail } = clip(text, page.maxText);
  const body = markdownHtml(head);
  if (omitted === 0) return `<div class="prose" dir="auto">${body}</div>`;
  return `<div class="prose" dir="auto">${body}${omissionHtml(omitted)}${markdownHtml(tail)}</div>`;
}

/** Text as it is, cut when it is long. `toHtml` escapes it, and may leave out more. */
export function verbatimHtml(page: PageContext, text: string, toHtml: (text: string) => string = escapeHtml): string {
  const { head, omitted, tail } = clip(text, page.maxResult);
  if (omitted === 0) return `<pre>${toHtml(head)}</pre>`;
  return `<pre>${toHtml(head)}</pre>${omissionHtml(omitted)}<pre>${toHtml(tail)}</pre>`;
}

export function omissionHtml(characters: number): string {
  return `<p class="note cut">✂ ${omission(characters)}</p>`;
}
