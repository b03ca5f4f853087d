import type { ToolCall, ToolResultMessage } from "@tau/llm";
import { callBody } from "../../tools/call-facts.ts";
import type { CallBody } from "../../tools/definition.ts";
import { asJson, asText, nameOf } from "../entry-text.ts";
import { duration } from "../figures.ts";
import { callLine, diffOf, factsOf } from "../tool-summary.ts";
import { diffHtml } from "./diff.ts";
import { escapeHtml, escapeOutput, imageHtml } from "./escape.ts";
import { editNote, entryAttributes, labelHtml, type PageContext, verbatimHtml } from "./page-context.ts";

/** The answer to a call, and the number of its entry. */
export interface Answer {
  readonly number: number;
  readonly message: ToolResultMessage;
}

/** A call and its result, collapsed to one line that says what was done and how it ended. */
export function callHtml(page: PageContext, call: ToolCall, answer: Answer | undefined): string {
  const name = nameOf(call.name);
  const body = callBody({ name, args: call.arguments });
  const diff = (answer && diffOf(answer.message.details)) ?? (body?.kind === "diff" ? body.text : undefined);
  const parts = [
    invalidHtml(page, call),
    argumentsHtml(page, call.arguments, body),
    diff === undefined ? "" : diffHtml(page, diff),
    answer ? resultHtml(page, answer) : `<p class="note">No result.</p>`,
  ];
  const summary = callLine({ name, args: call.arguments });
  return detailsHtml({ name, summary, answer, id: call.id, body: parts.join(""), changed: changedLines(diff) });
}

/** A result whose call is not beside it. */
export function answerHtml(page: PageContext, answer: Answer): string {
  const name = nameOf(answer.message.toolName);
  const diff = diffOf(answer.message.details);
  const body = (diff === undefined ? "" : diffHtml(page, diff)) + resultHtml(page, answer);
  return detailsHtml({
    name,
    summary: "result",
    answer,
    id: answer.message.toolCallId,
    body,
    changed: changedLines(diff),
  });
}

interface Details {
  name: string;
  summary: string;
  answer: Answer | undefined;
  id: unknown;
  body: string;
  /** As `+3 −1`; empty when nothing was changed. */
  changed: string;
}

function detailsHtml({ name, summary, answer, id, body, changed }: Details): string {
  const failed = answer?.message.isError === true;
  const state = answer ? (failed ? "failed" : "done") : "open";
  const outcome = failed || !answer || changed === "" ? outcomeOf(answer) : changed;
  return (
    `<details class="call ${state}"><summary title="${escapeHtml(nameOf(id))}">` +
    `<span class="tool" dir="auto">${escapeHtml(name || "unnamed tool")}</span>` +
    `<code class="about" dir="auto">${escapeHtml(summary)}</code>` +
    `${outcome === "" ? "" : `<span class="outcome">${escapeHtml(outcome)}</span>`}</summary>` +
    `<div class="inside">${body}</div></details>\n`
  );
}

function changedLines(diff: string | undefined): string {
  if (diff === undefined) return "";
  const count = (sign: RegExp) => diff.match(sign)?.length ?? 0;
  const parts = [`+${count(/^\+(?!\+\+ )/gm)}`, `−${count(/^-(?!-- )/gm)}`];
  return parts.filter((part) => part.length > 2 || part[1] !== "0").join(" ");
}

function outcomeOf(answer: Answer | undefined): string {
  if (!answer) return "no result";
  const { exitCode, durationMs } = factsOf(answer.message.details);
  const exit =
    exitCode === undefined ? (answer.message.isError ? "failed" : "") : exitCode > 0 ? `exit ${exitCode}` : "";
  return [exit, durationMs === undefined ? "" : duration(durationMs)].filter((part) => part !== "").join(" · ");
}

function invalidHtml(page: PageContext, { invalidArguments }: ToolCall): string {
  if (!invalidArguments) return "";
  return `<p class="note">The arguments were not valid JSON:</p>${verbatimHtml(page, asText(invalidArguments.raw))}`;
}

/** What the body of a call says is not said again. */
function argumentsHtml(page: PageContext, args: Readonly<Record<string, unknown>>, body: CallBody | undefined): string {
  const rest = Object.fromEntries(Object.entries(args).filter(([name]) => !body?.replaces.includes(name)));
  const command = body?.kind === "command" ? `<div class="command">${verbatimHtml(page, body.text)}</div>` : "";
  return command + restHtml(page, rest);
}

const MAX_ROWS = 24;

/** Short plain values on a line each, everything else as JSON. */
function restHtml(page: PageContext, args: Readonly<Record<string, unknown>>): string {
  const names = Object.keys(args);
  if (names.length === 0) return "";
  const isPlain = names.length <= MAX_ROWS && names.every((name) => name.length <= 80 && isShort(args[name]));
  if (!isPlain) return verbatimHtml(page, asJson(args));
  const rows = names.map((name) => `<dt>${escapeHtml(name)}</dt><dd dir="auto">${escapeHtml(asText(args[name]))}</dd>`);
  return `<dl class="arguments">${rows.join("")}</dl>`;
}

function isShort(value: unknown): boolean {
  if (typeof value === "string") return value.length <= 500 && !value.includes("\n");
  return typeof value === "number" || typeof value === "boolean" || value === null;
}

function resultHtml(page: PageContext, { number, message }: Answer): string {
  const blocks = message.content.map((block) => {
    if (block.type === "image") return imageHtml(block);
    const text = block.type === "text" ? asText(block.text) : asJson(block);
    return text === "" ? "" : verbatimHtml(page, text, escapeOutput);
  });
  const shown = blocks.join("") || `<p class="note">Empty result.</p>`;
  const classes = message.isError ? "result bad" : "result";
  return `<div ${entryAttributes(page, number, classes)}>${labelHtml(page, number)}${editNote(page, number)}${shown}</div>`;
}
