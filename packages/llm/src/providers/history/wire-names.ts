import type { Tool } from "../../protocol/tool.ts";

/** Which tool-call ids an API takes; `fixedLength` ids are made of letters and digits only. */
export interface ToolIdRule {
  maxLength: number;
  fixedLength?: boolean;
}

/** The rules that are known: OpenAI's 40 characters, 64 of its Responses API and of Anthropic, and the 9 of Mistral's templates (R027). */
export const TOOL_ID_RULES = {
  openai: { maxLength: 40 },
  responses: { maxLength: 64 },
  anthropic: { maxLength: 64 },
  mistral: { maxLength: 9, fixedLength: true },
} as const satisfies Record<string, ToolIdRule>;

const NAME_LENGTH = 64;
const SAFE = /^[A-Za-z0-9_-]+$/;
const LETTERS_DIGITS = /^[A-Za-z0-9]+$/;
const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
// 11 letters of the alphabet hold the 64 bits of the hash; 9 hold 53 of them, one clash in about 10^8 ids.
const HASH_LETTERS = 11;

/**
 * The id under which a call and its result go to an API. The same id gives the same one in every request and every
 * process, and different ids give different ones (up to a clash of their hashes); an id that fits stays as it is.
 */
export function wireToolId(id: string, rule: ToolIdRule): string {
  if (rule.fixedLength) {
    const fits = id.length === rule.maxLength && LETTERS_DIGITS.test(id);
    return fits ? id : hashLetters(id, rule.maxLength);
  }
  return safeName(id, rule.maxLength);
}

/** The name under which a tool goes to an API: `^[A-Za-z0-9_-]{1,64}$` (R165). Stable and unique like `wireToolId`. */
export function wireToolName(name: string): string {
  return safeName(name, NAME_LENGTH);
}

const ownNames = new WeakMap<readonly Tool[], ReadonlyMap<string, string>>();

/** The tool that the model means by the name it saw. A name that no tool has is given back as it is. */
export function ownToolName(wireName: string, tools: readonly Tool[]): string {
  let names = ownNames.get(tools);
  if (!names) {
    names = new Map(tools.map(({ name }) => [wireToolName(name), name]));
    ownNames.set(tools, names);
  }
  return names.get(wireName) ?? wireName;
}

function safeName(text: string, maxLength: number): string {
  if (text.length <= maxLength && SAFE.test(text)) return text;
  const readable = text.replace(/[^A-Za-z0-9_-]+/g, "_").slice(0, maxLength - HASH_LETTERS - 1);
  return `${readable}_${hashLetters(text, HASH_LETTERS)}`;
}

/** 64 bits of a hash of the text as letters and digits; not a secret, only spread well. */
function hashLetters(text: string, length: number): string {
  let [high, low] = [hash32(text, 0x9747b28c), hash32(text, 0x3c6ef372)];
  let letters = "";
  for (let i = 0; i < length; i++) {
    // Long division of the 64 bits by 62, in two halves.
    const carried = (high % ALPHABET.length) * 0x1_0000_0000 + low;
    high = Math.floor(high / ALPHABET.length);
    low = Math.floor(carried / ALPHABET.length);
    letters += ALPHABET[carried % ALPHABET.length];
  }
  return letters;
}

/** MurmurHash3 (public domain) over UTF-16 units, 32 bits. */
function hash32(text: string, seed: number): number {
  let hash = seed;
  for (let i = 0; i < text.length; i++) {
    let unit = Math.imul(text.charCodeAt(i), 0xcc9e2d51);
    unit = (unit << 15) | (unit >>> 17);
    hash ^= Math.imul(unit, 0x1b873593);
    hash = (hash << 13) | (hash >>> 19);
    hash = (Math.imul(hash, 5) + 0xe6546b64) | 0;
  }
  hash ^= text.length;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
