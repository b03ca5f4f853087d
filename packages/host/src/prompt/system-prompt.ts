import { builtinFacts } from "../tools/builtin.ts";
import type { ToolFacts } from "../tools/definition.ts";
import type { ContextFile } from "./context-files.ts";
import type { Skill } from "./skills.ts";

/** What the prompt asks of a tool. */
export interface AdvisedTool extends Pick<ToolFacts, "advice" | "opensFiles"> {
  readonly name: string;
}

export interface SystemPromptInput {
  /** The tools that are on, built-in ones by name or themselves; guidance speaks of these only. */
  tools: readonly (string | AdvisedTool)[];
  /** Working directory as the model is to know it. */
  cwd: string;
  /** `process.platform`. */
  platform: string;
  contextFiles: readonly ContextFile[];
  skills: readonly Skill[];
  /** Replaces tau's own words; context files, skills and facts stay. */
  custom?: string;
  /** Comes after tau's own words. */
  append?: readonly string[];
}

/** The prompt by named sections, which a later system message can patch one by one, and as one text. */
export interface SystemPrompt {
  readonly sections: Readonly<Record<string, string>>;
  readonly text: string;
}

const ROLE = `You are tau, a coding agent in the user's terminal. You do tasks by reading and changing files and running \
commands with your tools, and you continue until the task is done.`;

const WORKING = [
  "Look first. Read the code that matters before you change it; do not guess what a file, an API or a command says.",
  "Do what was asked, all of it and nothing beside it. Keep to the style, names and tools of the project.",
  "Fix causes, not symptoms. Never make a test pass by weakening it.",
  "Check your work: run the tests, the compiler or the program, and read what comes out. Say what you could not check.",
  "When a call fails, read the error and try something else; the same call fails again.",
  "Make calls that do not depend on each other in one message.",
  "Do not commit, push, publish, or delete or overwrite work that is not yours unless asked. Keep secrets out of files and output.",
  "Ask only what you cannot find out and what would be costly to get wrong.",
];

const ANSWERS = [
  "Be brief and plain. Name places as path:line. Do not repeat file content the user can open.",
  "End with what you changed, how you checked it, and what is left.",
];

/**
 * Builds the system prompt. Its bytes depend on the input only, and what differs from folder to folder comes last,
 * so that a provider's prompt cache holds. There is no date and no git state: the model can ask the shell.
 */
export function buildSystemPrompt(input: SystemPromptInput): SystemPrompt {
  const sections: Record<string, string> = {};
  const add = (name: string, text: string) => {
    if (text !== "") sections[name] = text;
  };
  if (input.custom === undefined) {
    add("role", ROLE);
    add("guidance", guidance(input.tools));
  } else {
    add("role", input.custom.trim());
  }
  add("append", (input.append ?? []).map((text) => text.trim()).join("\n\n"));
  add("skills", skillsSection(input));
  add("context", contextSection(input.contextFiles));
  add("environment", `Working directory: ${input.cwd}\nPlatform: ${input.platform}`);
  return { sections, text: joinSections(sections) };
}

/** The text of a set of sections, in their order. */
function joinSections(sections: Readonly<Record<string, string>>): string {
  return Object.values(sections).join("\n\n");
}

function guidance(tools: SystemPromptInput["tools"]): string {
  const on = tools.map(advised);
  const names = new Set(on.map(({ name }) => name));
  const advice = on
    .flatMap((tool) => tool.advice ?? [])
    .filter(
      ({ needs = [], without = [] }) =>
        needs.every((name) => names.has(name)) && !without.some((name) => names.has(name)),
    );
  const parts = [`# Work\n${list(WORKING)}`];
  if (advice.length > 0) parts.push(`# Tools\n${list(advice.map(({ text }) => text))}`);
  parts.push(`# Answers\n${list(ANSWERS)}`);
  return parts.join("\n\n");
}

function advised(tool: string | AdvisedTool): AdvisedTool {
  return typeof tool === "string" ? (builtinFacts(tool) ?? { name: tool }) : tool;
}

/** Skills are of use only to a model that can open their files. */
function skillsSection({ skills, tools }: SystemPromptInput): string {
  const offered = skills.filter((skill) => !skill.hidden);
  if (offered.length === 0 || !tools.some((tool) => advised(tool).opensFiles)) return "";
  const rows = offered.map(({ name, description, path }) => `${name}: ${description} (${path})`);
  return `# Skills\nInstructions for special tasks. When one fits, read its file before you start; paths in it are relative to \
its folder.\n${list(rows)}`;
}

function contextSection(files: readonly ContextFile[]): string {
  if (files.length === 0) return "";
  const blocks = files.map(({ path, text }) => `<instructions path="${path}">\n${text}\n</instructions>`);
  return `# Instructions\nFrom the user and the project. Follow them; where two disagree the later one holds.\n\n${blocks.join("\n\n")}`;
}

function list(lines: readonly string[]): string {
  return lines.map((line) => `- ${line}`).join("\n");
}
