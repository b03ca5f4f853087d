const OPENING = /^<file name="([^"\n]{1,4096})">/;
const CLOSING = "\n</file>";

/**
 * What the user typed in a prompt that also holds files given as `@file`: the text behind the files, or the names of
 * the files when nothing is behind them. A prompt without files comes back as it is.
 */
export function ownWords(prompt: string): string {
  if (!prompt.startsWith("<file name=")) return prompt;
  const end = prompt.lastIndexOf(CLOSING);
  const behind = end < 0 ? "" : prompt.slice(end + CLOSING.length).trim();
  return behind === "" ? fileNames(prompt) : behind;
}

function fileNames(prompt: string): string {
  const names: string[] = [];
  let at = 0;
  for (let name = nameAt(prompt, at); name !== undefined; name = nameAt(prompt, at)) {
    names.push(`@${name}`);
    const next = prompt.indexOf(`${CLOSING}\n`, at);
    if (next < 0) break;
    at = next + CLOSING.length;
    while (prompt[at] === "\n") at++;
  }
  return names.join(" ") || prompt;
}

function nameAt(prompt: string, at: number): string | undefined {
  return OPENING.exec(prompt.slice(at, at + 4200))?.[1];
}
