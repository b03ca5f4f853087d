import type { RequestStyle } from "./adjustments.ts";
import type { Refusal } from "./refusal.ts";

/** A refusal that is answered by another form of the whole request. */
export interface StyleRow {
  style: RequestStyle;
  /** What is said of it to the user, behind the name of the model. */
  says: string;
  fits: (refusal: Refusal) => boolean;
}

/** Words that refuse a field or a value. */
export const REFUSES =
  /unknown|unrecogni[sz]ed|unexpected|\bextra\b|unsupported|deprecated|forbidden|additional propert|invalid|cannot find field|no longer|\b(not|n't|cannot|can't) (be )?(support|permit|allow|available|valid|recogni[sz]|enabled|implement|accept|exist|have|use|set|specif)|only (the default|be set)/i;

const REASONING_FIELDS = ['"reasoning_content":', '"reasoning_details":', '"reasoning_text":', '"reasoning":"'];

/** Text and the places that the answer names. */
const all = ({ text, places }: Refusal) => `${text} ${places.join(" ")}`;

/**
 * Refusals of what stands in the conversation or in every tool. `fits` looks for what is named and whether the
 * request has it, so that no try is made in vain.
 */
export const STYLE_ROWS: readonly StyleRow[] = [
  {
    // Kimi: "thinking is enabled but reasoning_content is missing in assistant tool call message at index 2"
    style: "empty-reasoning",
    says: 'wants "reasoning_content" on every answer; it is sent',
    fits: ({ text }) =>
      /\breasoning_content\b/.test(text) &&
      /missing|must|required|passed back|expect|provide|should/i.test(text) &&
      !/unknown|unrecogni[sz]ed|\bextra\b|unsupported|not (be )?(support|permit|allow)/i.test(text),
  },
  {
    // Groq: "for 'role:assistant' … property 'reasoning_content' is unsupported"
    style: "no-reasoning",
    says: "does not take its own thinking back; it is left out",
    fits: (refusal) =>
      /(messages?|assistant).{0,200}\b(reasoning\w*|thinking)\b|\b(reasoning\w*|thinking)\b.{0,200}(messages?|assistant)/i.test(
        all(refusal),
      ) &&
      REFUSES.test(refusal.text) &&
      REASONING_FIELDS.some(refusal.sent.holds),
  },
  {
    // "Function call `read` in the 2. content block is missing a `thought_signature`"
    style: "placeholder-signatures",
    says: "wants a signature on every tool call; calls of other models get the placeholder",
    fits: ({ text, sent }) =>
      /thought_?signature/i.test(text) && /missing|required/i.test(text) && sent.holds('"tool_calls":'),
  },
  {
    // Anthropic: '"thinking.type.enabled" is not supported for this model. Use "thinking.type.adaptive" …'
    style: "adaptive-thinking",
    says: "takes adaptive thinking only; it is asked for",
    fits: ({ text, sent }) => /adaptive/i.test(text) && sent.holds('"thinking":{"type":"enabled"'),
  },
  {
    // "thinking.type: Input should be 'enabled' or 'disabled'"
    style: "budget-thinking",
    says: "does not know adaptive thinking; a budget of tokens is sent",
    fits: ({ text, fields, sent }) =>
      sent.holds('"thinking":{"type":"adaptive"') && (/adaptive/i.test(text) || fields[0] === "thinking.type"),
  },
  {
    style: "no-beta-header",
    says: "does not know the beta features of this API; none is asked for",
    fits: ({ text }) => /anthropic-beta|beta (flag|header)/i.test(text),
  },
  {
    style: "no-cache-marks",
    says: 'refused "cache_control"; nothing is marked for its cache',
    fits: (refusal) => /cache_control/i.test(all(refusal)) && refusal.sent.holds('"cache_control":'),
  },
  {
    // "messages[0].role: unknown variant `developer`, expected one of `system`, `user`"
    style: "system-role",
    says: 'does not know the role "developer"; the system prompt goes as "system"',
    fits: (refusal) =>
      (/\brole\b/i.test(all(refusal)) || /\bdeveloper\b/i.test(refusal.text)) &&
      refusal.sent.holds('"role":"developer"'),
  },
  {
    style: "no-strict-tools",
    says: 'refused "strict" in the tools; it is left out',
    fits: (refusal) =>
      /\bstrict\b/i.test(all(refusal)) && REFUSES.test(refusal.text) && refusal.sent.holds('"strict":'),
  },
  {
    // LM Studio names no field of the item that it does not know.
    style: "no-reasoning-items",
    says: "does not know reasoning items; they are left out",
    fits: (refusal) =>
      /input\[\d+\]\.(summary|content)|invalid_union|cannot determine type of 'item'/i.test(all(refusal)) &&
      refusal.sent.holds('"type":"reasoning"'),
  },
  {
    style: "no-item-ids",
    says: "refused the ids of earlier messages; they are left out",
    fits: (refusal) =>
      /duplicate item|item (with id )?'?msg_|input\[\d+\]\.id\b|invalid_union/i.test(all(refusal)) &&
      refusal.sent.holds('"type":"message"'),
  },
  {
    // Mistral: "Unexpected role 'user' after role 'tool'"
    style: "answer-after-results",
    says: "wants an answer between tool results and a prompt; one is put there",
    fits: ({ text }) => /role ?['"`]?user.{0,10}after.{0,10}role ?['"`]?tool/i.test(text),
  },
  {
    // Mistral: "Tool call id was call_1 but must be a-z, A-Z, 0-9, with a length of 9."
    style: "short-tool-ids",
    says: "wants call ids of nine characters; they are mapped",
    fits: ({ text }) => /tool[ _]?call[ _]?id/i.test(text) && /length of 9|9 char|nine char/i.test(text),
  },
  {
    // "messages.1.content.0.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'"
    style: "mapped-tool-ids",
    says: "refused the ids of its own calls; they are mapped",
    fits: (refusal) =>
      /tool[_ ]?(call|use).{0,40}\bid\b|call_id|content(\[\d+\]|\.\d+)\.id\b/i.test(all(refusal)) &&
      /match|pattern|too long|length|invalid|characters/i.test(refusal.text),
  },
  {
    style: "text-beside-calls",
    says: "wants a text beside tool calls; an empty one is sent",
    fits: (refusal) =>
      /\bcontent\b/i.test(all(refusal)) &&
      /\b(null|none|nil|required|empty)\b|valid string/i.test(refusal.text) &&
      refusal.sent.holds('"content":null'),
  },
  {
    // LiteLLM: "tools= param must be set when the history has tool calls"
    style: "tools-with-results",
    says: "wants a list of tools beside tool results; an empty one is sent",
    fits: ({ text, sent }) =>
      /\btools\b/i.test(text) &&
      /must|required|missing/i.test(text) &&
      !sent.holds('"tools":') &&
      sent.holds('"role":"tool"'),
  },
];
