import type { ContextFile } from "./context-files.ts";
import type { Skill } from "./skills.ts";

export interface SystemPromptInput {
  /** Names of the tools that are on; guidance speaks of these only. */
  tools: readonly string[];
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

/** Advice that holds only with certain tools. A row counts when all of `needs` are on and none of `without`. */
const TOOL_ADVICE: readonly { needs: string[]; without?: string[]; text: string }[] = [
  { needs: ["read", "bash"], text: "Read files with read, not cat or sed; for a long file give offset and limit." },
  { needs: ["edit", "write"], text: "Change files with edit; write is for new files and complete rewrites." },
  {
    needs: ["edit"],
    text: "An edit's oldText must be copied exactly and be unique; put all changes of one file in one call.",
  },
  { needs: ["grep"], text: "Search with grep and find; they skip ignored files and cap their output." },
  { needs: ["bash"], without: ["grep"], text: "Search with rg where it is installed; keep output short." },
  {
    needs: ["bash"],
    text: "Commands have no terminal and no input: use flags that avoid prompts and pagers, and start servers in the background.",
  },
  {
    needs: ["bash"],
    text: 'A separate sub-task can go to another agent: tau -p "task". It knows only what you write.',
  },
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

function guidance(tools: readonly string[]): string {
  const on = new Set(tools);
  const advice = TOOL_ADVICE.filter(
    ({ needs, without = [] }) => needs.every((tool) => on.has(tool)) && !without.some((tool) => on.has(tool)),
  ).map(({ text }) => text);
  const parts = [`# Work\n${list(WORKING)}`];
  if (advice.length > 0) parts.push(`# Tools\n${list(advice)}`);
  parts.push(`# Answers\n${list(ANSWERS)}`);
  return parts.join("\n\n");
}

/** Skills are of use only to a model that can open their files. */
function skillsSection({ skills, tools }: SystemPromptInput): string {
  const offered = skills.filter((skill) => !skill.hidden);
  if (offered.length === 0 || !(tools.includes("read") || tools.includes("bash"))) return "";
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
