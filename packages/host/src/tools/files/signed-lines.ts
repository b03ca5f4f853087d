/** A text as added or removed lines of a diff. */
export function signedLines(text: string, sign: "+" | "-"): string {
  return text
    .replace(/\n$/, "")
    .split("\n")
    .map((line) => sign + line)
    .join("\n");
}
