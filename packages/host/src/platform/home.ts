import { realpathSync, statSync } from "node:fs";
import { join } from "node:path";

/** Where tau keeps what (DESIGN, "Command line"); the same names hold in a project's `.tau`. */
export interface ConfigPaths {
  readonly dir: string;
  readonly settings: string;
  readonly models: string;
  readonly auth: string;
  readonly sessions: string;
  readonly skills: string;
  readonly prompts: string;
  readonly extensions: string;
  /** Replaces tau's own words in the prompt. */
  readonly systemPrompt: string;
  /** Comes after them. */
  readonly appendPrompt: string;
}

/** The paths inside one configuration directory: `TAU_DIR`, or a project's `.tau`. */
export function configPaths(dir: string): ConfigPaths {
  return {
    dir,
    settings: join(dir, "settings.json"),
    models: join(dir, "models.json"),
    auth: join(dir, "auth.json"),
    sessions: join(dir, "sessions"),
    skills: join(dir, "skills"),
    prompts: join(dir, "prompts"),
    extensions: join(dir, "extensions"),
    systemPrompt: join(dir, "SYSTEM.md"),
    appendPrompt: join(dir, "APPEND_SYSTEM.md"),
  };
}

/** The configuration directory of the project in `cwd`. It is used only when the project is trusted (R145). */
export function projectConfigDir(cwd: string): string {
  return join(cwd, ".tau");
}

/** Whether two paths lead to one directory. False when one of them cannot be looked at. */
export function sameDirectory(a: string, b: string): boolean {
  try {
    const [x, y] = [statSync(a), statSync(b)];
    return x.isDirectory() && x.dev === y.dev && x.ino === y.ino;
  } catch {
    return false;
  }
}

/** The path without symlinks; undefined when it leads nowhere (a dangling or a cyclic link). */
export function realPathOf(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    return undefined;
  }
}

/** What a path leads to, symlinks followed; undefined when it leads nowhere or cannot be looked at. */
export function kindOf(path: string): "file" | "folder" | "other" | undefined {
  try {
    const stat = statSync(path);
    if (stat.isFile()) return "file";
    return stat.isDirectory() ? "folder" : "other";
  } catch {
    return undefined;
  }
}
