import { homedir, userInfo } from "node:os";
import { resolve } from "node:path";
import { UsageError } from "../arguments/usage-error.ts";

/**
 * The user's home folder. In a container the user may have none: no HOME, and no entry in the system's list of users. All
 * files are where TAU_DIR says then. Throws UsageError when that is missing too.
 */
export function userHome({ HOME, TAU_DIR }: Readonly<Record<string, string | undefined>>): string {
  const home = HOME || known(homedir) || known(() => userInfo().homedir);
  if (home) return home;
  if (TAU_DIR) return resolve(TAU_DIR);
  throw new UsageError("there is no home folder: HOME is not set, and the system does not know this user; set TAU_DIR");
}

/** Node throws for a user without an entry. */
function known(look: () => string): string | undefined {
  try {
    return look();
  } catch {
    return undefined; // No entry: the next place is asked.
  }
}
