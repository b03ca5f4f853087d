import { ProcessGroups } from "../platform/process-groups.ts";

/** Those of the sessions that are open. */
const living = new Set<ProcessGroups>();
let listening = false;

/** Groups of a session, which are killed when this process ends without having closed the session (R080). */
export function openGroups(): ProcessGroups {
  const groups = new ProcessGroups();
  living.add(groups);
  if (!listening) {
    listening = true;
    // A crash or an exit that nobody saw coming comes by here.
    process.once("exit", () => {
      for (const each of living) each.killNow();
    });
  }
  return groups;
}

/** Ends all processes of the groups in good order, within a second. */
export async function closeGroups(groups: ProcessGroups): Promise<void> {
  await groups.dispose();
  living.delete(groups);
}
