const TAG = /<(\/?)([a-z][a-z0-9]*)((?: [a-zA-Z0-9-]+(?:="[^"<>]*")?)*)(\/?)>/g;
const ATTRIBUTE = / ([a-zA-Z0-9-]+)(?:="([^"]*)")?/g;
const EMPTY = new Set(["br", "hr", "img"]);

export interface Tag {
  name: string;
  /** As they are written. */
  attributes: string;
  pairs: (readonly [string, string])[];
}

/**
 * The tags of a piece of HTML, in order, when it is well formed and strict: every `<` begins a plain tag with quoted
 * attributes, and every element is closed in its order.
 */
export function tagsOf(html: string): Tag[] {
  const rest = html.replace(TAG, "");
  if (/[<>]/.test(rest)) throw new Error(`a stray bracket in ${JSON.stringify(rest.slice(0, 200))}`);
  const tags: Tag[] = [];
  const open: string[] = [];
  for (const [, slash, name = "", attributes = "", closed] of html.matchAll(TAG)) {
    if (slash === "/") {
      const last = open.pop();
      if (last !== name) throw new Error(`</${name}> closes <${last}>`);
      continue;
    }
    const pairs = [...attributes.matchAll(ATTRIBUTE)].map(([, key = "", value = ""]) => [key, value] as const);
    tags.push({ name, attributes, pairs });
    if (!EMPTY.has(name) && closed !== "/") open.push(name);
  }
  if (open.length > 0) throw new Error(`never closed: ${open.join(", ")}`);
  return tags;
}
