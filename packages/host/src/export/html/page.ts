import { createHash } from "node:crypto";
import { cacheHitShare } from "../../session/usage/stats.ts";
import type { SessionStore } from "../../store/session-store.ts";
import { chainsTo, NONE } from "../chains.ts";
import { exportMark } from "../export-mark.ts";
import { counted, dollars, percent, tokens } from "../figures.ts";
import { type ExportOptions, MAX_TEXT_CHARS, type Source, sourceOf } from "../source.ts";
import { branchesHtml, forkHtml, newestBelow } from "./branches.ts";
import { chartHtml } from "./chart.ts";
import { entriesHtml } from "./entry.ts";
import { escapeHtml } from "./escape.ts";
import { type PageContext, timeHtml } from "./page-context.ts";
import { PAGE_SCRIPT } from "./page-script.ts";
import { PAGE_STYLE } from "./page-style.ts";

/**
 * A session as one page that needs nothing else: no network, no other file. Every text of the session is escaped, and
 * the page's policy lets only its own style and script run. Comes in pieces, linear in the session's size.
 */
export function* exportHtml(store: SessionStore, options: ExportOptions = {}): Generator<string> {
  const source = sourceOf(store, options);
  const { outline } = source;
  const page: PageContext = {
    outline,
    shown: chainsTo(outline.chains, outline.active),
    maxText: MAX_TEXT_CHARS,
    maxResult: source.maxResult,
    read: source.read,
  };
  const newest = newestBelow(outline.chains, outline.active);
  yield headHtml(source);
  yield `<aside>\n${totalsHtml(source)}`;
  yield* branchesHtml(page, newest);
  yield `${aboutHtml(source)}</aside>\n<main>\n`;
  if (outline.active === NONE) yield `<p class="note empty">Nothing has been said on this branch.</p>\n`;
  for (const [chain, { parent, entries }] of outline.chains.entries()) {
    const hidden = page.shown.has(chain) ? "" : " hidden";
    const above = parent === NONE ? "" : ` data-parent="${parent}"`;
    yield `<section data-chain="${chain}"${above} data-end="${newest[chain] ?? chain}"${hidden}>\n`;
    yield* entriesHtml(page, entries);
    yield `${forkHtml(page, chain, newest)}</section>\n`;
  }
  yield `</main>\n<script>${PAGE_SCRIPT}</script>\n</body>\n</html>\n`;
}

const hashOf = (text: string): string => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

/** Nothing is loaded and nothing is sent: only this style, this script, and images that are in the page itself. */
function policy(): string {
  const rules = [
    "default-src 'none'",
    `script-src ${hashOf(PAGE_SCRIPT)}`,
    `style-src ${hashOf(PAGE_STYLE)}`,
    "img-src data:",
    "base-uri 'none'",
    "form-action 'none'",
  ];
  return rules.join("; ");
}

function headHtml({ title, id, created, cwd, warnings }: Source): string {
  const shownTitle = escapeHtml(title);
  return `<!doctype html>
${exportMark(id)}
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy()}">
<meta http-equiv="x-dns-prefetch-control" content="off">
<meta name="referrer" content="no-referrer">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="generator" content="tau">
<title>${shownTitle}</title>
<style>${PAGE_STYLE}</style>
</head>
<body>
<header class="top">
<div class="name"><h1 dir="auto">${shownTitle}</h1><p class="where">${timeHtml(created)}<span dir="auto">${escapeHtml(cwd)}</span></p></div>
<div class="switches">
<button type="button" data-switch="talk" aria-pressed="false" title="Hide tool calls and thinking">Talk only</button>
<button type="button" data-switch="unfold" aria-pressed="false" title="Open or close everything that is folded">Unfold</button>
<button type="button" data-switch="theme" title="Dark or light" aria-label="Dark or light">◐</button>
</div>
</header>
${warnings.map((warning) => `<p class="warning" dir="auto">⚠ ${escapeHtml(warning)}</p>\n`).join("")}<div class="page">
`;
}

function totalsHtml({ outline }: Source): string {
  const { totals, turns } = outline.ledger;
  const { tokens: sum } = totals;
  const prompt = sum.input + sum.cacheRead + sum.cacheWrite;
  const figures: [string, string][] = [
    [(totals.userMessages + totals.assistantMessages).toLocaleString("en-US"), "messages"],
    [totals.toolCalls.toLocaleString("en-US"), "tool calls"],
    [tokens(prompt), "prompt tokens"],
    [tokens(sum.output), "output tokens"],
    [percent(cacheHitShare(sum)), "cached"],
    [dollars(totals.cost), "cost"],
  ];
  const cells = figures.map(([value, name]) => `<div><dd>${value}</dd><dt>${name}</dt></div>`);
  const brief = `${counted(totals.userMessages + totals.assistantMessages, "message")} · ${dollars(totals.cost)}`;
  return (
    `<details class="card usage" open><summary><h2>Usage</h2><span class="brief">${brief}</span></summary>` +
    `<dl class="figures">${cells.join("")}</dl>${chartHtml(turns)}</details>\n`
  );
}

function aboutHtml({ id, cwd, created, parentSession, outline }: Source): string {
  const { models, compactions } = outline.ledger;
  const used = [...models].map(
    ([name, replies]) => `<b dir="auto">${escapeHtml(name)}</b> ${counted(replies, "reply", "replies")}`,
  );
  const begun = timeHtml(created);
  const rows: [string, string][] = [
    ["Session", `<code>${escapeHtml(id)}</code>`],
    ["Begun", begun === "" ? "" : `${begun} UTC`],
    ["Folder", `<code dir="auto">${escapeHtml(cwd)}</code>`],
    ["Models", used.join("<br>")],
    ["Compactions", compactions > 0 ? String(compactions) : ""],
    ["Forked from", parentSession === undefined ? "" : `<code dir="auto">${escapeHtml(parentSession)}</code>`],
  ];
  const shown = rows.filter(([, value]) => value !== "");
  const brief = escapeHtml([...models.keys()].at(-1) ?? "");
  const list = shown.map(([name, value]) => `<dt>${name}</dt><dd>${value}</dd>`).join("");
  return `<details class="card about" open><summary><h2>Session</h2><span class="brief" dir="auto">${brief}</span></summary><dl>${list}</dl>${labelsHtml(outline.labels)}</details>\n`;
}

function labelsHtml(labels: ReadonlyMap<number, string>): string {
  if (labels.size === 0) return "";
  const items = [...labels].map(([number, label]) => {
    return `<li><a class="label" dir="auto" href="#e${number}">${escapeHtml(label)}</a></li>`;
  });
  return `<ul class="labels">${items.join("")}</ul>`;
}
