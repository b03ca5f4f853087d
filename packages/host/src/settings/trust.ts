/** What is known when a project's `.tau` could be used. */
export interface TrustQuestion {
  /** `--approve` (true) or `--no-approve` (false) for this run. */
  readonly flag: boolean | undefined;
}

/**
 * Whether anything of a project's `.tau` and `.agents/skills` may be read: settings, models, skills, prompts,
 * extensions. They can run commands and redirect requests, so without the user's word the answer is no (R145);
 * AGENTS.md and CLAUDE.md are read in any case. Decisions that are kept, by path and content hash, belong here.
 */
export function isProjectTrusted({ flag }: TrustQuestion): boolean {
  return flag === true;
}
