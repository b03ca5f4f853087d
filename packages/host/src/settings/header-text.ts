/** Whether a text can be the name of a header: a token of RFC 9110, 5.6.2. */
export function isHeaderName(name: string): boolean {
  return /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/.test(name);
}

/** What keeps a text from being sent in a header, without the text, which is a secret; undefined when nothing does. */
export function headerTextProblem(text: string): string | undefined {
  if (/[\r\n]/.test(text)) return "it has more than one line";
  // Node sends the characters of Latin-1, each as one byte.
  const code = /[^\t\x20-\x7e\x80-\xff]/u.exec(text)?.[0]?.codePointAt(0);
  if (code === undefined) return undefined;
  return `it has the character U+${code.toString(16).toUpperCase().padStart(4, "0")}, which no header can carry`;
}
