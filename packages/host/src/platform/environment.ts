import { type NetworkSettings, networkFromEnv } from "@tau/llm";

/** What the process was started with, read once by the composition root and never again. */
export interface Environment {
  /** The user's home directory. */
  readonly userHome: string;
  /** tau's own directory: `TAU_DIR`, else `~/.tau`. Absolute. */
  readonly tauDir: string;
  /** Working directory as the kernel names it. */
  readonly cwd: string;
  /** Working directory as the user named it (through symlinks); equals `cwd` when there is no such name. */
  readonly logicalCwd: string;
  /** All variables of the process. Key look-ups read here; commands get `childVariables` instead. */
  readonly variables: Readonly<Record<string, string>>;
  /** Whether colours are wanted (`NO_COLOR`, `FORCE_COLOR`); undefined leaves it to the terminal. */
  readonly color: boolean | undefined;
  /** No network use of its own accord: no discovery, no update of catalogs (`TAU_OFFLINE`). */
  readonly offline: boolean;
  /** Names of variables that the tau above handed on. They hold keys, which no command gets. */
  readonly handedNames?: readonly string[];
  /** How many taus are above this one (`TAU_DEPTH`). */
  readonly depth: number;
  /** Show stack traces (`TAU_DEBUG`). */
  readonly debug: boolean;
  readonly network: NetworkSettings;
}

/** Facts of the process that are not environment variables. */
export interface ProcessFacts {
  userHome: string;
  cwd: string;
  /** Whether two paths name one directory; used to believe `PWD` only when it is true. */
  sameDirectory(a: string, b: string): boolean;
}

type Variables = Readonly<Record<string, string | undefined>>;

/** Reads the environment into one frozen value. Pure: all it knows comes in. */
export function readEnvironment(env: Variables, facts: ProcessFacts): Environment {
  const variables = definedOnly(env);
  const { userHome, cwd } = facts;
  const pwd = variables.PWD;
  return Object.freeze({
    userHome,
    tauDir: absolute(expandTilde(variables.TAU_DIR || "~/.tau", userHome), cwd),
    cwd,
    logicalCwd: pwd?.startsWith("/") && pwd !== cwd && facts.sameDirectory(pwd, cwd) ? trimSlash(pwd) : cwd,
    variables: Object.freeze(variables),
    color: wantsColor(variables),
    offline: isOn(variables.TAU_OFFLINE),
    depth: Math.max(0, Number.parseInt(variables.TAU_DEPTH ?? "0", 10) || 0),
    debug: isOn(variables.TAU_DEBUG),
    network: Object.freeze(networkFromEnv(variables)),
  });
}

/** Gives `~` and `~/…` their meaning in a path of a configuration file or flag. */
export function expandTilde(path: string, userHome: string): string {
  if (path === "~") return userHome;
  return path.startsWith("~/") ? `${userHome}${path.slice(1)}` : path;
}

function definedOnly(env: Variables): Record<string, string> {
  const out: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) if (value !== undefined) out[name] = value;
  return out;
}

function absolute(path: string, cwd: string): string {
  const full = /^([a-zA-Z]:)?[/\\]/.test(path) ? path : `${cwd}/${path}`;
  return trimSlash(full);
}

function trimSlash(path: string): string {
  return path.length > 1 ? path.replace(/(?<!\/)\/+$/, "") : path;
}

function isOn(value: string | undefined): boolean {
  return value !== undefined && !["", "0", "false", "no", "off"].includes(value.toLowerCase());
}

/** https://no-color.org: any value that is not empty. FORCE_COLOR=0 means no as well. */
function wantsColor(variables: Record<string, string>): boolean | undefined {
  if (variables.NO_COLOR) return false;
  if (variables.FORCE_COLOR !== undefined) return variables.FORCE_COLOR !== "0";
  return variables.TERM === "dumb" ? false : undefined;
}
