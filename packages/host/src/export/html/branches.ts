import { type Chain, NONE } from "../chains.ts";
import { counted } from "../figures.ts";
import { escapeHtml } from "./escape.ts";
import type { PageContext } from "./page-context.ts";

/** Deeper forks are drawn at this indent. */
const MAX_INDENT = 8;

/** For each chain the one that a reader who chooses it should see to the end: the newest below it. */
export function newestBelow(chains: readonly Chain[], active: number): number[] {
  const newest = chains.map((_, index) => index);
  const last = chains.map(({ entries }) => entries.at(-1) ?? NONE);
  for (let index = chains.length - 1; index >= 0; index--) {
    const parent = chains[index]?.parent ?? NONE;
    // The branch that is current may end above others; choosing it shows where it ends.
    if (parent === NONE || parent === active) continue;
    if ((last[index] ?? NONE) > (last[parent] ?? NONE)) {
      last[parent] = last[index] ?? NONE;
      newest[parent] = newest[index] ?? index;
    }
  }
  return newest;
}

interface BranchRow {
  readonly chain: number;
  readonly depth: number;
}

/** All chains as the lines of a tree, parents above their children. */
function branchRows(chains: readonly Chain[]): BranchRow[] {
  const rows: BranchRow[] = [];
  const roots = chains.flatMap(({ parent }, chain) => (parent === NONE ? [chain] : []));
  const stack = roots.map((chain) => ({ chain, depth: 0 })).reverse();
  for (let row = stack.pop(); row; row = stack.pop()) {
    rows.push(row);
    const children = chains[row.chain]?.children ?? [];
    const depth = children.length > 1 ? row.depth + 1 : row.depth;
    for (const chain of children.toReversed()) stack.push({ chain, depth });
  }
  return rows;
}

/** The tree of branches; a click shows one. Empty for a session without forks. */
export function* branchesHtml(page: PageContext, newest: readonly number[]): Generator<string> {
  const { chains, active } = page.outline;
  if (chains.length < 2) return;
  const ends = chains.filter(({ children }, index) => children.length === 0 || index === active).length;
  yield `<details class="card branches" open><summary><h2>Branches</h2><span class="brief">${ends.toLocaleString("en-US")}</span></summary><ul class="tree">\n`;
  for (const { chain, depth } of branchRows(chains)) {
    yield `<li class="d${Math.min(depth, MAX_INDENT)}">${branchButton(page, chain, newest)}</li>\n`;
  }
  yield "</ul></details>\n";
}

/** Where a branch forks: the ways on. */
export function forkHtml(page: PageContext, chain: number, newest: readonly number[]): string {
  const children = page.outline.chains[chain]?.children ?? [];
  if (children.length === 0) return "";
  const buttons = children.map((child) => `<li>${branchButton(page, child, newest)}</li>`).join("");
  return `<nav class="fork"><p>${counted(children.length, "way on", "ways on")} from here</p><ul>${buttons}</ul></nav>\n`;
}

function branchButton(page: PageContext, chain: number, newest: readonly number[]): string {
  const { chains, active, labels } = page.outline;
  const { entries, messages } = chains[chain] ?? { entries: [], messages: 0 };
  const marks = entries.flatMap((number) => labels.get(number) ?? []).slice(0, 4);
  const shownMarks = marks.map((label) => `<span class="label" dir="auto">${escapeHtml(label)}</span>`).join("");
  const current = chain === active ? `<span class="current">current</span>` : "";
  const on = page.shown.has(chain) ? ` aria-current="true"` : "";
  return (
    `<button type="button" data-chain="${chain}" data-end="${newest[chain] ?? chain}"${on}>` +
    `<span class="preview" dir="auto">${escapeHtml(previewIn(page, entries))}</span>` +
    `<span class="facts">${counted(messages, "message")}${current}${shownMarks}</span></button>`
  );
}

function previewIn(page: PageContext, entries: readonly number[]): string {
  const { previews } = page.outline;
  for (const number of entries) {
    const preview = previews.get(number);
    if (preview) return preview;
  }
  return "(no text)";
}
