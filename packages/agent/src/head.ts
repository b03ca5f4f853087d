import type { SystemMessage, Tool } from "@tau/llm";
import type { Head } from "./config.ts";
import type { AgentMessage } from "./messages.ts";

/** What the model was told so far (law B8): the head and `patches` replayed system messages. A plain prompt is the section `prompt`. */
export type Told = { content: string; sections: Map<string, string>; tools: Map<string, Tool>; patches: number };

/** Only what the model sees of a tool. */
export const declaration = ({ name, description, parameters }: Tool): Tool => ({ name, description, parameters });
const fingerprint = (tool: Tool | undefined) => tool && JSON.stringify([tool.description, tool.parameters]);
const joined = (parts: string[]) => parts.filter((part) => part !== "").join("\n\n");
export const toldPrompt = ({ content, sections }: Told): string => joined([content, ...sections.values()]);

export function replay({ systemPrompt, tools = [] }: Head, messages: readonly AgentMessage[]): Told {
  const sections = new Map(systemPrompt ? [["prompt", systemPrompt]] : []);
  const told: Told = { content: "", sections, tools: new Map(tools.map((tool) => [tool.name, tool])), patches: 0 };
  for (const message of messages) tell(told, message);
  return told;
}

/** Replays one message: changes `told` when it is a system message. */
export function tell(told: Told, message: AgentMessage): void {
  if (message.role !== "system") return;
  const { content, sections = {}, toolsAdded = [], toolsRemoved = [] } = message;
  told.patches++;
  told.content = joined([told.content, typeof content === "string" ? content : content.map(({ text }) => text).join("\n")]);
  for (const [name, text] of Object.entries(sections)) {
    if (text === null) told.sections.delete(name);
    else told.sections.set(name, text);
  }
  for (const { name } of toolsRemoved) told.tools.delete(name);
  for (const tool of toolsAdded) told.tools.set(tool.name, tool);
}

/** The message that leads from what was told to what holds now, if anything changed. An absent prompt or tool list says nothing. */
export function announce(told: Told, { systemPrompt, tools = [...told.tools.values()] }: Head): SystemMessage[] {
  const toolsAdded = tools.filter((tool) => fingerprint(tool) !== fingerprint(told.tools.get(tool.name))).map(declaration);
  const names = new Set(tools.map(({ name }) => name));
  const toolsRemoved = [...told.tools.keys()].filter((name) => !names.has(name)).map((name) => ({ name }));
  // Text outside of sections cannot be taken back, so beside such text only the section counts.
  const known = [toldPrompt(told), ...(told.content === "" ? [] : [told.sections.get("prompt") ?? ""])];
  const changed = systemPrompt !== undefined && !known.includes(systemPrompt);
  const gone = Object.fromEntries([...told.sections.keys()].map((name) => [name, null]));
  const changes = {
    ...(changed && { sections: { ...gone, prompt: systemPrompt || null } }),
    ...(toolsAdded.length > 0 && { toolsAdded }),
    ...(toolsRemoved.length > 0 && { toolsRemoved }),
  };
  return Object.keys(changes).length > 0 ? [{ role: "system", content: "", ...changes, timestamp: Date.now() }] : [];
}
