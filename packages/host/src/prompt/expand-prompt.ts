import { kindOf } from "../platform/home.ts";
import { nearNames } from "../platform/near-names.ts";
import { ConfigError } from "../settings/config-error.ts";
import { expandSkill, type Skill } from "./skills.ts";
import { expandTemplate, type PromptTemplate } from "./templates.ts";

/** What a user can call by `/name` in a prompt. */
export interface Callable {
  readonly templates: readonly PromptTemplate[];
  readonly skills: readonly Skill[];
}

/** How to send a text that looks like a command, for the end of an error. */
const AS_TEXT = "put a blank before it to send it as text";

/** `/name`, the whole prompt or in front of a blank; a path has another slash or a dot somewhere. */
const COMMAND = /^\/([A-Za-z][\w-]*)(\s|$)/;

/**
 * The prompt behind what a user typed: `/name args` of a template and `/skill:name request` become their texts, any
 * other text comes back as it is.
 *
 * @throws ConfigError for a skill that there is none of, and for what can only be a mistyped command: `/name` and
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
  if (skill) throw new ConfigError(`the skill "${name}" cannot be read any more: ${skill.path}`);
  const names = skills.map((each) => each.name);
  throw new ConfigError(`there is no skill "${name}"${hint("/skill:", { name, names })}`);
}

function checkCommand(text: string, templates: readonly PromptTemplate[]): void {
  const name = COMMAND.exec(text)?.[1];
  if (name === undefined || kindOf(`/${name}`) !== undefined) return;
  const names = templates.map((each) => each.name);
  // A sentence may begin with a route or a name of its own; only what is about as long can be the same word mistyped.
  const mistyped = nearNames(name, names).some((near) => Math.abs(near.length - name.length) <= 1);
  if (!mistyped && text.trim() !== `/${name}`) return;
  throw new ConfigError(`there is no command or prompt template "/${name}"${hint("/", { name, names })}`);
}

function hint(prefix: string, { name, names }: { name: string; names: readonly string[] }): string {
  const [near] = nearNames(name, names, 1);
  if (near !== undefined) return `: did you mean ${prefix}${near}? Else ${AS_TEXT}`;
  if (names.length === 0) return `, nor any other; ${AS_TEXT}`;
  const all = names.slice(0, 10).map((each) => prefix + each);
  return `; there are ${all.join(", ")}${names.length > all.length ? ", …" : ""}. Else ${AS_TEXT}`;
}
