import type { WireRequest } from "@tau/llm/testing";
import { expect } from "vitest";

// The mark that tells a provider where its cache ends moves with the end of the conversation; caches do not count it.
const CACHE_MARK = /,"cache_control":\{"type":"ephemeral"\}/g;

/** A request body in the parts that law O3 speaks of, as the bytes were sent. */
interface Parts {
  /** Everything before the messages: model, tools, and the system prompt where it is a field of its own. */
  head: string;
  /** The messages, or items of the input, up to the last one, without what closes the list; the system prompt is left out. */
  messages: string;
}

/** Whether prompt or tools were changed between two requests, and what the API does with that. */
export interface Change {
  /** The session was told to change its tools. */
  tools: boolean;
  /** The session was told to change its prompt. */
  prompt: boolean;
  /** The API takes a changed prompt as a message of the conversation. */
  midSystem: boolean;
}

/**
 * Law O3: the bytes of a request up to the last message of the one before are the same. Where an API cannot be told of
 * a change in the middle, the change is folded into the head (law B8): then that part alone differs.
 */
export function expectSamePrefix(before: WireRequest, next: WireRequest, change: Change): void {
  const [old, now] = [partsOf(before), partsOf(next)];
  expect(now.messages.slice(0, old.messages.length)).toBe(old.messages);
  const promptFolds = change.prompt && !change.midSystem;
  if (change.tools) {
    // Its tools are new; the prompt is not.
    if (!promptFolds) expect(promptOf(next)).toBe(promptOf(before));
    return;
  }
  if (!promptFolds) expect(now.head).toBe(old.head);
  expect(toolsOf(next)).toBe(toolsOf(before));
}

/** The conversation as the API has it. */
const conversationOf = ({ api, body }: WireRequest) =>
  (api === "openai-responses" ? body.input : body.messages) as { role?: string }[];

function partsOf(request: WireRequest): Parts {
  const { api, raw } = request;
  const all = conversationOf(request);
  const at = raw.indexOf(`"${api === "openai-responses" ? "input" : "messages"}":${JSON.stringify(all)}`);
  expect(at, "the body is JSON as JSON.stringify writes it").toBeGreaterThan(0);
  const prompt = all[0]?.role === "system" || all[0]?.role === "developer" ? 1 : 0;
  // The Messages API wants its system messages behind the whole turn of the user, so more of that turn moves the last.
  const end = api === "anthropic-messages" && all.at(-1)?.role === "system" ? -1 : all.length;
  const messages = JSON.stringify(all.slice(prompt, end)).replace(CACHE_MARK, "");
  const head = raw.slice(0, at) + JSON.stringify(all.slice(0, prompt));
  return { head: head.replace(CACHE_MARK, ""), messages: open(messages) };
}

/** Neighbours of one role are one message in the Messages API, so the last one may grow by further blocks. */
function open(list: string): string {
  return list.replace(/(\}\])?\}?\]$/, "");
}

const promptOf = (request: WireRequest): string => {
  const { system, instructions } = request.body;
  const [first] = conversationOf(request);
  return JSON.stringify(system ?? instructions ?? (first?.role === "user" ? undefined : first)) ?? "";
};

const toolsOf = ({ body }: WireRequest): string => JSON.stringify(body.tools ?? []).replace(CACHE_MARK, "");
