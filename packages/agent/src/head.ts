import type { SystemMessage, Tool } from "@tau/llm";
import type { Head } from "./config.ts";
import type { AgentMessage } from "./messages.ts";
import { attempt } from "./values.ts";

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
  for (const message of messages) attempt(() => tell(told, message));
  return told;
}

/** Replays one message: changes `told` when it is a system message. */
export function tell(told: Told, message: AgentMessage): void {
  if (message.role !== "system") return;
  const { content: given, sections = {}, toolsAdded = [], toolsRemoved = [] } = message;
  const content = typeof given === "string" ? given : given.map(({ text }) => text).join("\n");
  told.patches++;
  told.content = joined([told.content, content]);
  for (const [name, text] of Object.entries(sections))
    text === null ? told.sections.delete(name) : told.sections.set(name, text);
  for (const { name } of toolsRemoved) told.tools.delete(name);
  for (const tool of toolsAdded) told.tools.set(tool.name, tool);
}

/** The message that leads from what was told to what holds now, if anything changed. An absent prompt or tool list says nothing. */
export function announce(told: Told, { systemPrompt, tools = [...told.tools.values()] }: Head): SystemMessage[] {
  const changed = tools.filter((tool) => fingerprint(tool) !== fingerprint(told.tools.get(tool.name)));
  const gone = [...told.tools.keys()].filter((name) => !tools.some((tool) => tool.name === name));
  // Text outside of sections cannot be taken back, so beside such text only the section counts.
  const known = [toldPrompt(told), ...(told.content === "" ? [] : [told.sections.get("prompt") ?? ""])];
  const removed = Object.fromEntries([...told.sections.keys()].map((name) => [name, null]));
  const message: SystemMessage = { role: "system", content: "", timestamp: Date.now() };
  if (systemPrompt !== undefined && !known.includes(systemPrompt))
    message.sections = { ...removed, prompt: systemPrompt || null };
  if (changed.length > 0) message.toolsAdded = changed.map(declaration);
  if (gone.length > 0) message.toolsRemoved = gone.map((name) => ({ name }));
  return message.sections || changed.length + gone.length > 0 ? [message] : [];
}
