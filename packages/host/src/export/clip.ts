/** A text cut to what can be shown: its beginning, how many characters are left out, and its end. */
export interface Clipped {
  head: string;
  omitted: number;
  tail: string;
}

/** Keeps four fifths of `maxChars` from the beginning and the rest from the end; never half a surrogate pair. */
export function clip(text: string, maxChars: number): Clipped {
  if (text.length <= maxChars) return { head: text, omitted: 0, tail: "" };
  const headEnd = beforePair(text, Math.floor(maxChars * 0.8));
  const tailStart = beforePair(text, text.length - Math.floor(maxChars * 0.2));
  return { head: text.slice(0, headEnd), omitted: tailStart - headEnd, tail: text.slice(tailStart) };
}

function beforePair(text: string, at: number): number {
  const code = text.charCodeAt(at);
  return code >= 0xdc00 && code <= 0xdfff ? at - 1 : at;
}

/** What a note says of the part that was left out. */
export function omission(characters: number): string {
  return `${characters.toLocaleString("en-US")} more characters are in the session file`;
}
