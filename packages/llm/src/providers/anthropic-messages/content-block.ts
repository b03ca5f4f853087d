import type { AssistantAssembler } from "../../stream/assembler.ts";
import { isRecord } from "../../stream/json.ts";
import { argumentText, CallArguments } from "../reply/call-arguments.ts";
import type { CallNames } from "../reply/call-names.ts";
import type { ReplyText } from "../reply/reply-text.ts";

type Json = Record<string, unknown>;

/** An open content block of the answer. */
export interface ContentBlock {
  /** Takes what its kind knows; a delta of another type is passed over, whatever fields it has (R322). */
  delta(delta: Json): void;
  close(): void;
}

interface Parts {
  assembler: AssistantAssembler;
  names: CallNames;
  texts: ReplyText;
}

/** Opens the block that a server announces with this content; undefined for a kind that has no place in the answer. */
export function openContentBlock(content: Json, parts: Parts): ContentBlock | undefined {
  switch (content.type) {
    case "text":
      return textBlock(content, parts);
    case "thinking":
      return thinkingBlock(content, parts);
    case "redacted_thinking":
      return typeof content.data === "string" ? redactedBlock(content.data, parts) : undefined;
    case "tool_use":
      return callBlock(content, parts);
    default:
      return undefined;
  }
}

function textBlock(content: Json, { texts }: Parts): ContentBlock {
  const block = texts.open();
  const add = (text: unknown) => {
    if (isFilled(text)) block.add(text);
  };
  add(content.text);
  return {
    delta: ({ type, text }) => {
      if (type === "text_delta" || type === undefined) add(text);
    },
    close: () => block.close(),
  };
}

function thinkingBlock(content: Json, { assembler }: Parts): ContentBlock {
  const contentIndex = assembler.openThinking();
  // Comes in pieces, of which only all together are a signature.
  let signature = "";
  const add = ({ thinking, signature: piece }: Json) => {
    if (isFilled(thinking)) assembler.thinkingDelta(contentIndex, thinking);
    if (isFilled(piece)) signature += piece;
  };
  add(content);
  return {
    delta: (delta) => {
      const { type } = delta;
      if (type === "thinking_delta" || type === "signature_delta" || type === undefined) add(delta);
    },
    close: () => {
      if (signature !== "") assembler.setSignature(contentIndex, signature);
      assembler.closeBlock(contentIndex);
    },
  };
}

function redactedBlock(data: string, { assembler }: Parts): ContentBlock {
  const contentIndex = assembler.openThinking({ signature: data, redacted: true });
  return { delta: () => undefined, close: () => assembler.closeBlock(contentIndex) };
}

function callBlock(content: Json, { assembler, names }: Parts): ContentBlock {
  const name = names.ownName(typeof content.name === "string" ? content.name : "");
  const args = new CallArguments(assembler);
  args.attach(assembler.openToolCall({ id: names.claimId([content.id]), name }));
  return {
    delta: ({ type, partial_json: piece }) => {
      if ((type === "input_json_delta" || type === undefined) && isFilled(piece)) args.add(piece);
    },
    close: () => {
      // The input of the start counts when no deltas follow.
      if (!args.begun && isRecord(content.input)) args.add(argumentText(content.input));
      else if (!args.begun && isFilled(content.input)) args.add(content.input);
      args.close();
    },
  };
}

const isFilled = (value: unknown): value is string => typeof value === "string" && value !== "";
