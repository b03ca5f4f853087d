import type { AssistantMessage, Message } from "../../protocol/message.ts";
import { type Adjustments, refuseThinking } from "./adjustments.ts";
import { FIELD_ROWS, fittingOutput, OUTPUT_LIMITS } from "./field-rows.ts";
import type { Refusal } from "./refusal.ts";
import { STYLE_ROWS } from "./style-rows.ts";

/** How the next try differs from the request that was refused. */
export interface RequestChange {
  /** For the next try. */
  now: Adjustments;
  /** For the requests after it. */
  later: Adjustments;
  /** One sentence for the user, behind the name of the model. */
  says: string;
}

/** One row: what a refusal looks like, and how the request changes. */
interface RefusalRow {
  why: string;
  /** Kinds of failures that it answers; by default only refused requests. */
  overflow?: true;
  change: (refusal: Refusal) => RequestChange | undefined;
}

/**
 * What is done about a request that a server refused, for all APIs: the first row that gives a change wins. What is
 * learned holds for later requests to the same model of the same server. A refusal that no row answers is the failure
 * of the request.
 */
const REFUSAL_ROWS: readonly RefusalRow[] = [
  { why: "prompt and output limit exceed the window together", overflow: true, change: smallerAnswer },
  { why: "a signature of earlier thinking is not accepted", change: withoutThinking },
  { why: "the form of the conversation or of the tools", change: otherStyle },
  { why: "a limit on the output, also where it reads as an overflow", overflow: true, change: smallerOutput },
  { why: "a field that is named: its name, its range, its words, or the field itself", change: otherField },
];

/** The change that a refusal asks for. */
export function changeFor(refusal: Refusal): RequestChange | undefined {
  const { kind } = refusal;
  if (kind !== "invalid_request" && kind !== "unknown" && kind !== "overflow") return undefined;
  for (const { overflow, change } of REFUSAL_ROWS) {
    const found = kind !== "overflow" || overflow ? change(refusal) : undefined;
    if (found) return found;
  }
  return undefined;
}

function smallerAnswer(refusal: Refusal): RequestChange | undefined {
  const found = fittingOutput(refusal);
  return found && { now: found.now, later: found.adjustments, says: found.says };
}

const SIGNATURE =
  /signature.{0,200}(invalid|required|not valid|missing|corrupt|verif|mismatch|unknown|unsupported|expired)|(invalid|corrupt\w{0,8}|missing|expired|unknown|bad)\b.{0,80}signature|redacted_thinking|thinking.{0,40}block.{0,200}(cannot be modified|must remain|invalid)|invalid_encrypted_content|encrypted[ _]content.{0,300}(could not|cannot|invalid)|item (with id )?'?rs_|required ('?reasoning'?|following) item|input\[\d{1,6}\]\.encrypted_content/i;

/** Thinking goes back to the model that wrote it, as long as the server takes it; later thinking is not concerned. */
function withoutThinking({ text, places, sent }: Refusal): RequestChange | undefined {
  if (!SIGNATURE.test(`${text} ${places.join(" ")}`)) return undefined;
  const { adjustments, messages } = sent;
  const signed = messages.filter((message) => hasThinking(message) && !adjustments.refusedThinking.has(message));
  if (signed.length === 0) return undefined;
  const refusedThinking = refuseThinking(adjustments.refusedThinking, signed);
  const later = { ...adjustments, refusedThinking };
  return { now: later, later, says: "did not accept its earlier thinking again; it is left out of the conversation" };
}

function hasThinking(message: Message): message is AssistantMessage {
  return (
    message.role === "assistant" &&
    message.content.some(
      (block) => block.type === "thinking" || (block.type === "toolCall" && block.thoughtSignature !== undefined),
    )
  );
}

function otherStyle(refusal: Refusal): RequestChange | undefined {
  const { adjustments } = refusal.sent;
  const row = STYLE_ROWS.find(({ style, fits }) => !adjustments.styles.has(style) && fits(refusal));
  if (!row) return undefined;
  const later = { ...adjustments, styles: new Set([...adjustments.styles, row.style]) };
  return { now: later, later, says: row.says };
}

const OF_OUTPUT = /completion tokens|output tokens|max(imum)? (completion|output|new)/i;
/** Names of the limit on the output in other APIs: a gateway passes on what the server behind it says. */
const OTHER_LIMIT_NAMES = /\bmax_?(?:(?:new|output|completion|gen|generated|response)_?)?tokens\b|\bnum_predict\b/i;

function smallerOutput(refusal: Refusal): RequestChange | undefined {
  if (refusal.kind === "overflow" && !OF_OUTPUT.test(refusal.text)) return undefined;
  const sent = OUTPUT_LIMITS.filter((name) => refusal.sent.fields[name] !== undefined);
  const fields = refusal.fields.filter((field) => sent.includes(field));
  // "The model supports at most 8192 completion tokens" names no field.
  const unnamed = fields.length === 0 && meansOutput(refusal);
  const meant = unnamed ? sent : fields.slice(0, 1);
  return fieldChange({ ...refusal, fields: meant });
}

/** @returns whether the limit on the output is spoken of, though not by the name under which it was sent */
function meansOutput({ kind, text, fields }: Refusal): boolean {
  // Beside a field that was sent, such a name is one of those that the server knows.
  return OF_OUTPUT.test(text) || (kind !== "overflow" && fields.length === 0 && OTHER_LIMIT_NAMES.test(text));
}

function otherField(refusal: Refusal): RequestChange | undefined {
  return refusal.status === 400 || refusal.status === 422 ? fieldChange(refusal) : undefined;
}

function fieldChange(refusal: Refusal): RequestChange | undefined {
  for (const field of refusal.fields) {
    for (const row of FIELD_ROWS) {
      const change = row(field, refusal);
      if (change) return { now: change.adjustments, later: change.adjustments, says: change.says };
    }
  }
  return undefined;
}
