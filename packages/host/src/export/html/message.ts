import type { AgentMessage, BashExecutionMessage, CustomMessage } from "@tau/agent";
import type { AssistantContent, AssistantMessage, SystemMessage, UserMessage } from "@tau/llm";
import { asJson, asText, blocksOf, nameOf, textOf } from "../entry-text.ts";
import { counted, dollars, tokens } from "../figures.ts";
import { amount } from "../ledger.ts";
import { escapeHtml, escapeOutput, imageHtml } from "./escape.ts";
import {
  editNote,
  entryAttributes,
  labelHtml,
  type PageContext,
  proseHtml,
  timeHtml,
  verbatimHtml,
} from "./page-context.ts";
import { type Answer, answerHtml, callHtml } from "./tool-call.ts";

/** A message with the number of its entry. */
export interface Said<M = AgentMessage> {
  readonly number: number;
  readonly message: M;
}

/** What is around a message. */
export interface Surroundings {
  /** The results that follow it, by the id of their call; those that are shown with it are taken out. */
  readonly answers: Map<string, Answer[]>;
  /** `provider/model` of the reply before; only a change is worth a word. */
  readonly modelBefore: string | undefined;
}

/** `provider/model` of a reply. */
export function modelOf({ provider, model }: AssistantMessage): string {
  return [nameOf(provider), nameOf(model)].filter((part) => part !== "").join("/");
}

/** One message, whatever its role. */
export function messageHtml(page: PageContext, said: Said, around: Surroundings): string {
  const { number, message } = said;
  switch (message.role) {
    case "user":
      return userHtml(page, { number, message });
    case "assistant":
      return assistantHtml(page, { number, message }, around);
    case "toolResult":
      return `<article class="said assistant">${answerHtml(page, { number, message })}</article>\n`;
    case "system":
      return systemHtml(page, { number, message });
    case "bashExecution":
      return bashHtml(page, { number, message });
    case "custom":
      return customHtml(page, { number, message });
    default:
      return otherHtml(page, said);
  }
}

interface Article {
  readonly number: number;
  readonly kind: string;
  readonly who: string;
  readonly timestamp: unknown;
  readonly body: string;
  readonly foot?: string;
}

function articleHtml(page: PageContext, { number, kind, who, timestamp, body, foot = "" }: Article): string {
  return (
    `<article ${entryAttributes(page, number, `said ${kind}`)}><header>` +
    `<a class="who" href="#e${number}">${escapeHtml(who)}</a>${labelHtml(page, number)}${timeHtml(timestamp)}</header>` +
    `${editNote(page, number)}${body}${foot}</article>\n`
  );
}

function userHtml(page: PageContext, { number, message }: Said<UserMessage>): string {
  const body = contentHtml(page, message.content);
  return articleHtml(page, { number, kind: "user", who: "You", timestamp: message.timestamp, body });
}

function contentHtml(page: PageContext, content: unknown): string {
  return blocksOf(content)
    .map((block) => {
      if (block.type === "image") return imageHtml(block);
      return block.type === "text" ? proseHtml(page, asText(block.text)) : verbatimHtml(page, asJson(block));
    })
    .join("");
}

function assistantHtml(
  page: PageContext,
  { number, message }: Said<AssistantMessage>,
  { answers, modelBefore }: Surroundings,
): string {
  const blocks = message.content.map((block) => blockHtml(page, block, answers)).join("");
  const body = blocks + failureHtml(message);
  const foot = footHtml(message, modelBefore);
  return articleHtml(page, { number, kind: "assistant", who: "Assistant", timestamp: message.timestamp, body, foot });
}

function blockHtml(page: PageContext, block: AssistantContent, answers: Map<string, Answer[]>): string {
  switch (block.type) {
    case "text":
      return proseHtml(page, asText(block.text));
    case "thinking":
      return thinkingHtml(page, asText(block.thinking), block.redacted === true);
    case "toolCall":
      return callHtml(page, block, answers.get(asText(block.id))?.shift());
    default:
      return verbatimHtml(page, asJson(block));
  }
}

function thinkingHtml(page: PageContext, text: string, redacted: boolean): string {
  if (text.trim() === "" && !redacted) return "";
  const body = redacted ? `<p class="note">The provider did not show it.</p>` : proseHtml(page, text);
  return `<details class="thinking"><summary>Thinking</summary><div class="inside">${body}</div></details>\n`;
}

const ENDINGS: Readonly<Record<string, string>> = {
  length: "The reply was cut off at the token limit.",
  aborted: "Stopped by the user.",
};

function failureHtml({ stopReason, errorMessage, errorKind }: AssistantMessage): string {
  if (stopReason === "error") {
    const kind = errorKind ? ` (${escapeHtml(nameOf(errorKind))})` : "";
    return `<p class="failure" dir="auto">The request failed${kind}: ${escapeHtml(asText(errorMessage) || "no reason given")}</p>`;
  }
  const ending = Object.hasOwn(ENDINGS, stopReason) ? ENDINGS[stopReason] : undefined;
  return ending === undefined ? "" : `<p class="failure">${ending}</p>`;
}

function footHtml(message: AssistantMessage, modelBefore: string | undefined): string {
  const { thinkingLevel, usage } = message;
  const prompt = amount(usage.input) + amount(usage.cacheRead) + amount(usage.cacheWrite);
  const name = modelOf(message);
  const level = thinkingLevel && thinkingLevel !== "off" ? `, thinking ${nameOf(thinkingLevel)}` : "";
  const parts = [
    name === modelBefore ? "" : name + level,
    prompt > 0 ? `${tokens(prompt)} in${cachedOf(usage.cacheRead, prompt)}` : "",
    amount(usage.output) > 0 ? `${tokens(amount(usage.output))} out` : "",
    amount(usage.cost?.total) > 0 ? dollars(amount(usage.cost?.total)) : "",
  ].filter((part) => part !== "");
  return `<footer>${parts.map((part) => `<span>${escapeHtml(part)}</span>`).join("")}</footer>`;
}

function cachedOf(cacheRead: unknown, prompt: number): string {
  const share = Math.round((amount(cacheRead) / prompt) * 100);
  return share > 0 ? `, ${share}% cached` : "";
}

function systemHtml(page: PageContext, { number, message }: Said<SystemMessage>): string {
  const sections = Object.entries(message.sections ?? {}).map(([name, text]) => {
    const body = text === null ? `<p class="note">Removed.</p>` : verbatimHtml(page, asText(text));
    return `<p class="section">${escapeHtml(name)}</p>${body}`;
  });
  const content = textOf(message.content);
  const tools = namesOf(message.toolsAdded);
  const removed = namesOf(message.toolsRemoved);
  const facts = [
    tools.length > 0 ? counted(tools.length, "tool") : "",
    removed.length > 0 ? `${counted(removed.length, "tool")} removed` : "",
  ].filter((part) => part !== "");
  const body = [
    tools.length > 0 ? `<p>Tools: ${codes(tools)}</p>` : "",
    removed.length > 0 ? `<p>Tools removed: ${codes(removed)}</p>` : "",
    content === "" ? "" : verbatimHtml(page, content),
    ...sections,
  ].join("");
  const about = facts.length > 0 ? ` · ${facts.join(" · ")}` : "";
  return (
    `<details ${entryAttributes(page, number, "marker prompt")}><summary>System prompt${about}</summary>` +
    `<div class="inside">${body}</div></details>\n`
  );
}

function namesOf(tools: unknown): string[] {
  return Array.isArray(tools) ? tools.map((tool) => nameOf(tool?.name)) : [];
}

function codes(names: readonly string[]): string {
  return names.map((name) => `<code>${escapeHtml(name)}</code>`).join(" ");
}

function bashHtml(page: PageContext, { number, message }: Said<BashExecutionMessage>): string {
  const { command, output, exitCode, cancelled, excludeFromContext, timestamp } = message;
  const state = cancelled ? "stopped" : typeof exitCode === "number" && exitCode !== 0 ? `exit ${exitCode}` : "";
  const body =
    `<details class="call ${state === "" ? "done" : "failed"}"><summary><span class="tool">!</span>` +
    `<code class="about" dir="auto">${escapeHtml(nameOf(command))}</code><span class="outcome">${state}</span></summary>` +
    `<div class="inside"><div class="command">${verbatimHtml(page, asText(command))}</div>` +
    `<div class="result">${verbatimHtml(page, asText(output), escapeOutput)}</div></div></details>` +
    `${excludeFromContext === true ? `<p class="note">Not in the model’s context.</p>` : ""}`;
  return articleHtml(page, { number, kind: "user", who: "You ran", timestamp, body });
}

function customHtml(page: PageContext, { number, message }: Said<CustomMessage>): string {
  const { customType, content, display, timestamp } = message;
  const inner = contentHtml(page, content);
  const body =
    display === false
      ? `<details class="thinking"><summary>Not displayed in the session</summary><div class="inside">${inner}</div></details>`
      : inner;
  return articleHtml(page, { number, kind: "custom", who: nameOf(customType) || "Extension", timestamp, body });
}

/** A role that this version does not know. */
function otherHtml(page: PageContext, { number, message }: Said): string {
  const { role, timestamp }: { role: unknown; timestamp: unknown } = message;
  const body = `<details class="thinking"><summary>Data</summary><div class="inside">${verbatimHtml(page, asJson(message))}</div></details>`;
  return articleHtml(page, { number, kind: "custom", who: nameOf(role) || "Unknown", timestamp, body });
}
