import type { AgentMessage } from "@tau/agent";
import type { SystemMessage, Tool } from "@tau/llm";

/** The system prompt in named parts, in the order in which they are shown. */
export type PromptSections = Readonly<Record<string, string>>;

/** What the model was told so far: the replayed system messages (law B8). */
export interface Head {
  /** Text that belongs to no section, as other programs write it. */
  readonly content: string;
  readonly sections: PromptSections;
  readonly tools: readonly Tool[];
}

export const EMPTY_HEAD: Head = { content: "", sections: {}, tools: [] };

/** A prompt that was given as one string is one section, so that a later change can patch it. */
export function sectionsOf(prompt: string | { sections: PromptSections }): PromptSections {
  if (typeof prompt !== "string") return prompt.sections;
  return prompt === "" ? {} : { prompt };
}

/** Only what the model sees of a tool. */
export function declaration({ name, description, parameters }: Tool): Tool {
  return { name, description, parameters };
}

/** The head after one more system message. */
export function foldHead(head: Head, message: SystemMessage): Head {
  const removed = new Set(message.toolsRemoved?.map(({ name }) => name));
  const tools = head.tools.filter(({ name }) => !removed.has(name));
  for (const tool of message.toolsAdded ?? []) replaceOrAdd(tools, tool);
  const merged = { ...head.sections, ...message.sections };
  const sections = Object.fromEntries(
    Object.entries(merged).flatMap(([name, text]) => (text === null ? [] : [[name, text]])),
  );
  const text = contentText(message);
  return { content: [head.content, text].filter((part) => part !== "").join("\n\n"), sections, tools };
}

function replaceOrAdd(tools: Tool[], tool: Tool): void {
  const at = tools.findIndex(({ name }) => name === tool.name);
  if (at < 0) tools.push(tool);
  else tools[at] = tool;
}

function contentText({ content }: SystemMessage): string {
  return typeof content === "string" ? content : content.map((block) => block.text).join("\n");
}

/** The head after all system messages of a transcript. */
export function replayHead(system: SystemMessage | undefined, messages: readonly AgentMessage[]): Head {
  const first = system ? foldHead(EMPTY_HEAD, system) : EMPTY_HEAD;
  return messages.reduce((head, message) => (message.role === "system" ? foldHead(head, message) : head), first);
}

/** The text that goes to the model as its system prompt. */
export function promptText(head: Pick<Head, "content" | "sections">): string {
  return [head.content, ...Object.values(head.sections)].filter((part) => part !== "").join("\n\n");
}

/** The first system message of a session: every section and every tool. */
export function headMessage(sections: PromptSections, tools: readonly Tool[], timestamp: number): SystemMessage {
  return { role: "system", content: "", sections: { ...sections }, toolsAdded: tools.map(declaration), timestamp };
}

/**
 * The system message that leads from what the model was told to what holds now; undefined when nothing changed.
 * @param timestamp Unix time in milliseconds
 */
export function headPatch(
  told: Head,
  wanted: { sections: PromptSections; tools: readonly Tool[] },
  timestamp: number,
): SystemMessage | undefined {
  const sections = sectionChanges(told.sections, wanted.sections);
  const known = new Map(told.tools.map((tool) => [tool.name, fingerprint(tool)]));
  const toolsAdded = wanted.tools.filter((tool) => known.get(tool.name) !== fingerprint(tool)).map(declaration);
  const names = new Set(wanted.tools.map(({ name }) => name));
  const toolsRemoved = told.tools.filter(({ name }) => !names.has(name)).map(({ name }) => ({ name }));
  const changed = Object.keys(sections).length > 0;
  if (!changed && toolsAdded.length === 0 && toolsRemoved.length === 0) return undefined;
  return {
    role: "system",
    content: "",
    ...(changed && { sections }),
    ...(toolsAdded.length > 0 && { toolsAdded }),
    ...(toolsRemoved.length > 0 && { toolsRemoved }),
    timestamp,
  };
}

function sectionChanges(told: PromptSections, wanted: PromptSections): Record<string, string | null> {
  const gone = Object.keys(told).filter((name) => wanted[name] === undefined);
  const changed = Object.entries(wanted).filter(([name, text]) => told[name] !== text);
  return Object.fromEntries([...changed, ...gone.map((name) => [name, null] as const)]);
}

/** Objects that came back from the disk have their keys in the order in which they were written, so JSON text compares. */
function fingerprint(tool: Tool): string {
  return JSON.stringify([tool.description, tool.parameters]);
}
