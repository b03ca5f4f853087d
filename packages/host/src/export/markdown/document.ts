import type { AgentMessage } from "@tau/agent";
import type { AssistantMessage, ToolCall, ToolResultMessage } from "@tau/llm";
import { assertNever } from "../../platform/assert-never.ts";
import { cleanTerminalText } from "../../platform/terminal-text.ts";
import { cacheHitShare } from "../../session/usage/stats.ts";
import type { Entry } from "../../store/entries.ts";
import type { SessionStore } from "../../store/session-store.ts";
import { callBody } from "../../tools/call-facts.ts";
import { type Chain, chainsTo } from "../chains.ts";
import { clip, omission } from "../clip.ts";
import { asJson, asText, blocksOf, nameOf, textOf } from "../entry-text.ts";
import { exportMark } from "../export-mark.ts";
import { counted, dollars, moment, percent, tokens } from "../figures.ts";
import { escapeHtml } from "../html/escape.ts";
import { amount } from "../ledger.ts";
import { editOn } from "../outline.ts";
import { type ExportOptions, MAX_TEXT_CHARS, type Source, sourceOf } from "../source.ts";
import { callLine, diffOf, factsOf } from "../tool-summary.ts";
import { fenced, inertMarkdown, inertSpan } from "./inert.ts";

/**
 * The current branch of a session as Markdown: what was said as text, thinking, calls and results folded. Images are
 * named, not shown. Comes in pieces, linear in the session's size.
 */
export function* exportMarkdown(store: SessionStore, options: ExportOptions = {}): Generator<string> {
  const source = sourceOf(store, options);
  const { chains, active } = source.outline;
  const path = chainsTo(chains, active);
  yield headText(source, path);
  for (const chain of [...path].reverse()) {
    for (const number of chains[chain]?.entries ?? []) yield entryText({ source, path }, number);
  }
}

function headText({ id, title, created, cwd, warnings, outline }: Source, path: ReadonlySet<number>): string {
  const { totals, models, compactions } = outline.ledger;
  const { tokens: sum } = totals;
  const prompt = sum.input + sum.cacheRead + sum.cacheWrite;
  const rows = [
    `Session ${inertSpan(id)}`,
    `Begun ${moment(created)?.shown ?? "at an unknown time"} UTC in ${inertSpan(cwd)}`,
    `Models: ${[...models.keys()].map(inertSpan).join(", ") || "none"}`,
    `${counted(totals.userMessages + totals.assistantMessages, "message")}, ${counted(totals.toolCalls, "tool call")}, ` +
      `${tokens(prompt)} prompt tokens (${percent(cacheHitShare(sum))} from the cache), ${tokens(sum.output)} output tokens, ${dollars(totals.cost)}`,
    ...(compactions > 0 ? [counted(compactions, "compaction")] : []),
    ...otherBranches(outline.chains, path),
  ];
  const told = warnings.map((warning) => `> Warning: ${inertSpan(warning)}\n\n`).join("");
  return `${exportMark(id)}\n\n# ${inertSpan(title)}\n\n${told}${rows.map((row) => `- ${row}\n`).join("")}\n`;
}

function otherBranches(chains: readonly Chain[], path: ReadonlySet<number>): string[] {
  const others = chains.filter(({ children }, chain) => children.length === 0 && !path.has(chain)).length;
  return others > 0 ? [`${counted(others, "other branch", "other branches")}, not in this file`] : [];
}

interface Place {
  readonly source: Source;
  readonly path: ReadonlySet<number>;
}

function entryText({ source, path }: Place, number: number): string {
  const entry = source.read(number);
  if (!entry) return "*This entry cannot be shown.*\n\n";
  const edit = editOn(path, source.outline.edits.get(number));
  const note = edit
    ? `*${edit.hides ? "Not in the model’s context: taken out after it was said." : "The model sees other content in its place."}*`
    : "";
  const label = source.outline.labels.get(number);
  const marks = label ? `*Label: ${inertSpan(label)}*` : "";
  const blocks = entryBlocks(entry, source.maxResult);
  const [first = "", ...rest] = blocks;
  // Below the heading, above the text.
  return [first, marks, note, ...rest]
    .filter((block) => block !== "")
    .map((block) => `${block}\n\n`)
    .join("");
}

function entryBlocks(entry: Entry, maxResult: number): string[] {
  switch (entry.type) {
    case "message":
      return messageBlocks(entry.message, maxResult);
    case "custom_message":
      return said(nameOf(entry.customType) || "Extension", entry.timestamp, contentBlocks(entry.content));
    case "compaction":
      return [
        "---",
        folded(`Compacted at ${tokens(amount(entry.tokensBefore))} tokens: the summary`, prose(entry.summary)),
      ];
    case "branch_summary":
      return [folded("Summary of a branch that was left", prose(entry.summary))];
    case "model_change":
      return [`*Model: ${inertSpan(`${nameOf(entry.provider)}/${nameOf(entry.modelId)}`)}*`];
    case "thinking_level_change":
      return [`*Thinking: ${inertSpan(nameOf(entry.thinkingLevel))}*`];
    case "usage":
    case "context_edit":
    case "custom":
    case "label":
    case "session_info":
      return [];
    default:
      return assertNever(entry, []);
  }
}

function messageBlocks(message: AgentMessage, maxResult: number): string[] {
  switch (message.role) {
    case "user":
      return said("You", message.timestamp, contentBlocks(message.content));
    case "assistant":
      return said("Assistant", message.timestamp, assistantBlocks(message, maxResult));
    case "toolResult":
      return [resultText(message, maxResult)];
    case "system":
      return [folded("System prompt", fenced(cut(systemText(message), maxResult)))];
    case "bashExecution": {
      const output = fenced(cut(cleanTerminalText(asText(message.output)), maxResult));
      return said("You ran", message.timestamp, [fenced(asText(message.command), "sh"), output]);
    }
    case "custom":
      return said(nameOf(message.customType) || "Extension", message.timestamp, contentBlocks(message.content));
    default:
      return [folded("Data", fenced(cut(asJson(message), maxResult), "json"))];
  }
}

function said(who: string, timestamp: unknown, blocks: readonly string[]): string[] {
  const time = moment(timestamp);
  return [`## ${inertSpan(who)}${time ? ` · ${time.shown}` : ""}`, ...blocks];
}

function contentBlocks(content: unknown): string[] {
  return blocksOf(content).map((block) => {
    if (block.type === "image") return `*[image: ${inertSpan(nameOf(block.mimeType))}]*`;
    return block.type === "text" ? prose(asText(block.text)) : fenced(asJson(block), "json");
  });
}

function assistantBlocks(message: AssistantMessage, maxResult: number): string[] {
  const blocks = message.content.map((block) => {
    switch (block.type) {
      case "text":
        return prose(asText(block.text));
      case "thinking":
        return asText(block.thinking).trim() === "" ? "" : folded("Thinking", prose(asText(block.thinking)));
      case "toolCall":
        return callText(block, maxResult);
      default:
        return fenced(asJson(block), "json");
    }
  });
  if (message.stopReason === "error") blocks.push(`**The request failed:** ${inertSpan(asText(message.errorMessage))}`);
  if (message.stopReason === "aborted") blocks.push("*Stopped by the user.*");
  if (message.stopReason === "length") blocks.push("*The reply was cut off at the token limit.*");
  return blocks;
}

function callText({ name, arguments: args }: ToolCall, maxResult: number): string {
  const tool = nameOf(name);
  const body = callBody({ name: tool, args });
  const language = { command: "sh", diff: "diff" } as const;
  const shown = body
    ? fenced(cut(body.text, maxResult), language[body.kind])
    : fenced(cut(asJson(args), maxResult), "json");
  return folded(`${tool || "unnamed tool"}: ${callLine({ name: tool, args })}`, shown);
}

function resultText({ toolName, content, details, isError }: ToolResultMessage, maxResult: number): string {
  const diff = diffOf(details);
  const { exitCode } = factsOf(details);
  const state = isError ? (exitCode === undefined ? " (failed)" : ` (exit ${exitCode})`) : "";
  const blocks = content.map((block) =>
    block.type === "image"
      ? `*[image: ${inertSpan(nameOf(block.mimeType))}]*`
      : fenced(cut(cleanTerminalText(textOf([block])), maxResult)),
  );
  if (diff !== undefined) blocks.unshift(fenced(cut(diff, maxResult), "diff"));
  return folded(`Result of ${nameOf(toolName)}${state}`, blocks.join("\n\n"));
}

function systemText({ content, sections }: Extract<AgentMessage, { role: "system" }>): string {
  const parts = Object.entries(sections ?? {}).map(([name, text]) => `[${name}]\n${text ?? "(removed)"}`);
  return [textOf(content), ...parts].filter((part) => part !== "").join("\n\n");
}

function prose(text: string): string {
  return inertMarkdown(cut(text, MAX_TEXT_CHARS)).trim();
}

function cut(text: string, maxChars: number): string {
  const { head, omitted, tail } = clip(text, maxChars);
  return omitted === 0 ? head : `${head}\n\n[… ${omission(omitted)}]\n\n${tail}`;
}

function folded(summary: string, body: string): string {
  // HTML to some viewers, Markdown to others.
  const title = escapeHtml(nameOf(summary)).replaceAll("[", "&#91;").replaceAll("]", "&#93;");
  return `<details><summary>${title}</summary>\n\n${body}\n\n</details>`;
}
