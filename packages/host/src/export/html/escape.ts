import { cleanTerminalText } from "../../platform/terminal-text.ts";

// Bidirectional overrides, embeddings and isolates can make a line read as another one; a page shows that they are there.
const SPECIAL = /[&<>"'\0\u2028\u2029\u202a-\u202e\u2066-\u2069]/g;

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
  "\0": "\ufffd",
  "\u2028": "&#8232;",
  "\u2029": "&#8233;",
};

/** Text for the inside of an element or of a quoted attribute; no character of it can be markup (R182). */
export function escapeHtml(text: string): string {
  return text.replace(SPECIAL, (char) => ENTITIES[char] ?? `[U+${char.charCodeAt(0).toString(16).toUpperCase()}]`);
}

/** The output of a program: what a terminal would act on is left out, the rest escaped. */
export function escapeOutput(text: string): string {
  return escapeHtml(cleanTerminalText(text));
}

const SCHEMES = /^(?:https?:\/\/|mailto:)[^\s<>"'`\\\x00-\x1f\x7f]+$/i;

/** An address that a link may have, escaped; undefined for every scheme but http, https and mailto. */
export function linkTarget(address: string): string | undefined {
  return SCHEMES.test(address) ? escapeHtml(address) : undefined;
}

// Formats that every browser shows and that can hold no script; SVG can.
const IMAGE_TYPES: ReadonlySet<string> = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;
const MAX_IMAGE_CHARS = 16 * 1024 * 1024;

/** An image of a session as an `<img>`, or a note in its place. */
export function imageHtml({ data, mimeType }: { data?: unknown; mimeType?: unknown }): string {
  const type = typeof mimeType === "string" ? mimeType.toLowerCase() : "";
  const base64 = typeof data === "string" && data.length <= MAX_IMAGE_CHARS ? data.replace(/\s+/g, "") : "";
  if (!IMAGE_TYPES.has(type) || !BASE64.test(base64)) {
    const what = typeof data === "string" && data.length > MAX_IMAGE_CHARS ? "too large for the page" : "not shown";
    return `<p class="note">[image, ${escapeHtml(type || "of unknown type")}: ${what}]</p>`;
  }
  return `<img class="picture" alt="${escapeHtml(type)}" loading="lazy" src="data:${type};base64,${base64}">`;
}
