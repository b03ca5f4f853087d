import type { SystemMessage } from "../protocol/message.ts";
import type { Tool } from "../protocol/tool.ts";
import type { Head } from "./fold.ts";

/** Only what the model sees of a tool. */
export function declaration({ name, description, parameters }: Tool): Tool {
  return { name, description, parameters };
}

/**
 * The one system message that says all of a head, such as the first one of a session.
 * @param timestamp Unix time in milliseconds
 */
export function headMessage({ content, sections, tools }: Head, timestamp: number): SystemMessage {
  const toolsAdded = [...tools.values()].map(declaration);
  return { role: "system", content, sections: Object.fromEntries(sections), toolsAdded, timestamp };
}

/**
 * The system message that leads from what the model was told to what is wanted; undefined when nothing changed. Text
 * outside of sections cannot be taken back: that of `wanted` is not looked at.
 * @param timestamp Unix time in milliseconds
 */
export function headChange(
  told: Head,
  wanted: Pick<Head, "sections" | "tools">,
  timestamp: number,
): SystemMessage | undefined {
  const message: SystemMessage = { role: "system", content: "", timestamp };
  const sections = sectionChanges(told.sections, wanted.sections);
  if (sections.length > 0) message.sections = Object.fromEntries(sections);
  const added = [...wanted.tools.values()].filter(
    (tool) => fingerprint(tool) !== fingerprint(told.tools.get(tool.name)),
  );
  if (added.length > 0) message.toolsAdded = added.map(declaration);
  const removed = [...told.tools.keys()].filter((name) => !wanted.tools.has(name));
  if (removed.length > 0) message.toolsRemoved = removed.map((name) => ({ name }));
  return sections.length + added.length + removed.length > 0 ? message : undefined;
}

function sectionChanges(told: Head["sections"], wanted: Head["sections"]): [string, string | null][] {
  const changed = [...wanted].filter(([name, text]) => told.get(name) !== text);
  const gone = [...told.keys()].filter((name) => !wanted.has(name));
  return [...changed, ...gone.map((name): [string, null] => [name, null])];
}

/** Objects that came back from the disk have their keys in the order in which they were written, so JSON text compares. */
function fingerprint(tool: Tool | undefined): string | undefined {
  return tool && JSON.stringify([tool.description, tool.parameters]);
}
