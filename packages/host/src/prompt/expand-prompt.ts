import { kindOf } from "../platform/home.ts";
import { nearNames } from "../platform/near-names.ts";
import { configError } from "../settings/config-error.ts";
import { expandSkill, type Skill } from "./skills.ts";
import { expandTemplate, type PromptTemplate } from "./templates.ts";

/** What a user can call by `/name` in a prompt. */
export interface Callable {
  readonly templates: readonly PromptTemplate[];
  readonly skills: readonly Skill[];
}

/** `/name`, the whole prompt or in front of a space; a path has another slash or a dot somewhere. */
const COMMAND = /^\/([A-Za-z][\w-]*)(\s|$)/;

/**
 * The prompt behind what a user typed: `/name args` of a template and `/skill:name request` become their texts, any
 * other text comes back as it is.
 *
 * @throws ConfigError for a skill that does not exist, and for what can only be a mistyped command: `/name` and
 *   nothing else, or a name that is nearly that of a template. What could be a path (`/usr/bin/x is broken`, `/tmp`)
 *   or a sentence goes to the model.
 */
export function expandPrompt(text: string, { templates, skills }: Callable): string {
  const expanded = expandTemplate(text, templates);
  const result = expandSkill(expanded, skills);
  if (result === expanded) checkSkill(expanded, skills);
  if (result === text) checkCommand(text, templates);
  return result;
}

function checkSkill(text: string, skills: readonly Skill[]): void {
  const name = /^\/skill:(\S*)/.exec(text)?.[1];
  if (name === undefined) return;
  const skill = skills.find((each) => each.name === name);
  if (skill) throw configError("skill_unreadable", { name, path: skill.path });
  const known = skills.map((each) => each.name);
  throw configError("skill_unknown", { name, near: nearNames(name, known, 1), known });
}

function checkCommand(text: string, templates: readonly PromptTemplate[]): void {
  const name = COMMAND.exec(text)?.[1];
  if (name === undefined || kindOf(`/${name}`) !== undefined) return;
  const names = templates.map((each) => each.name);
  // A sentence may begin with a route or a name of its own; only what is about as long can be the same word mistyped.
  const mistyped = nearNames(name, names).some((near) => Math.abs(near.length - name.length) <= 1);
  if (!mistyped && text.trim() !== `/${name}`) return;
  throw configError("template_unknown", { name, near: nearNames(name, names, 1), known: names });
}
