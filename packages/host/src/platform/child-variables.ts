/**
 * Variables that are secrets of the agent or of the machine it runs on, and no business of a command that a model
 * wrote (R142). Names with `*` match any run of characters.
 */
const SECRET_NAMES = [
  "*_API_KEY",
  "ANTHROPIC_AUTH_TOKEN",
  "ANTHROPIC_OAUTH_TOKEN",
  "CLAUDE_CODE_OAUTH_TOKEN",
  "COPILOT_GITHUB_TOKEN",
  "HF_TOKEN",
  "HUGGING_FACE_HUB_TOKEN",
  "REPLICATE_API_TOKEN",
  "CLOUDFLARE_API_TOKEN",
  "AWS_BEARER_TOKEN_BEDROCK",
  "ACTIONS_RUNTIME_TOKEN",
  "ACTIONS_ID_TOKEN_REQUEST_TOKEN",
  "ACTIONS_ID_TOKEN_REQUEST_URL",
  "CI_JOB_TOKEN",
  "CI_JOB_JWT*",
  "CI_REGISTRY_PASSWORD",
  "CI_DEPLOY_PASSWORD",
  "CI_REPOSITORY_URL",
  "NPM_TOKEN",
  "NODE_AUTH_TOKEN",
  "GITHUB_TOKEN",
  "GH_TOKEN",
  "GITLAB_TOKEN",
  "BITBUCKET_TOKEN",
  "BUILDKITE_AGENT_ACCESS_TOKEN",
  "CIRCLE_TOKEN",
];

/** Where a tau asks the one above for what it hands on. No secret: strangers get no answer there. */
export const CHANNEL_VARIABLE = "TAU_PARENT";

export interface ChildVariablesOptions {
  variables: Readonly<Record<string, string>>;
  /** More names to keep back: those that models.json and the catalog read keys from. */
  secretNames?: Iterable<string>;
  /** The setting `keepEnv`: names or patterns with `*` that are passed on all the same. */
  keep?: readonly string[];
  /** Variables to set, beside those of the environment. */
  add?: Readonly<Record<string, string>>;
  /** How deep this tau is; the child is told one more (law G3). */
  depth: number;
}

export interface ChildVariables {
  /** The environment of commands that the model runs: without the agent's secrets, with `TAU_DEPTH` one up. */
  readonly variables: Record<string, string>;
  /** Values that were kept back, to be masked where a tool shows them all the same (R143). */
  readonly secrets: string[];
}

/** Parts the environment into what commands of the model get and what they must not see (R142). */
export function childVariables(options: ChildVariablesOptions): ChildVariables {
  const isSecret = nameMatcher([...SECRET_NAMES, ...(options.secretNames ?? [])]);
  const isKept = nameMatcher(options.keep ?? []);
  const variables: Record<string, string> = {};
  const secrets: string[] = [];
  for (const [name, value] of Object.entries(options.variables)) {
    if (!isSecret(name) || isKept(name)) variables[name] = value;
    else if (value !== "") secrets.push(value);
  }
  // That of the tau above is not for the children of this one.
  delete variables[CHANNEL_VARIABLE];
  Object.assign(variables, options.add);
  variables.TAU_DEPTH = String(options.depth + 1);
  // Lets tools that ask see who started them; pi's name for it.
  variables.AI_AGENT = "tau";
  return { variables, secrets };
}

/** A test whether a variable is kept from commands of a model; `more` are names beside the known ones. */
export function secretVariableTest(more: readonly string[]): (name: string) => boolean {
  return nameMatcher([...SECRET_NAMES, ...more]);
}

/** A test for names against a list of exact names and patterns with `*`. */
export function nameMatcher(patterns: readonly string[]): (name: string) => boolean {
  const exact = new Set(patterns.filter((pattern) => !pattern.includes("*")));
  const globs = patterns.filter((pattern) => pattern.includes("*")).map(globToRegExp);
  return (name) => exact.has(name) || globs.some((glob) => glob.test(name));
}

function globToRegExp(pattern: string): RegExp {
  const body = pattern
    .split("*")
    .map((part) => part.replace(/[.+?^${}()|[\]\\]/g, "\\$&"))
    .join(".*");
  // regexp: it meets the names of variables only, which the user has set.
  return new RegExp(`^${body}$`);
}
