/**
 * Variables that make a shell run other code than the command, or the commands of the user mean something else: start-up
 * files (R074), options, search paths for `cd`. NODE_CHANNEL_*: descriptors of tau's own parent, not of the child.
 */
const REMOVED = new Set([
  "BASH_ENV",
  "ENV",
  "SHELLOPTS",
  "BASHOPTS",
  "CDPATH",
  "PROMPT_COMMAND",
  "NODE_CHANNEL_FD",
  "NODE_CHANNEL_SERIALIZATION_MODE",
  "SSH_ASKPASS",
]);

/** Functions that were exported by the shell tau was started from (R074). */
const EXPORTED_FUNCTION = "BASH_FUNC_";

/**
 * No one sits at the terminal of a command, so nothing may wait for one (R081). Editors are `true`: git then takes the
 * text as it is, so `git rebase --continue` goes on and `git commit` without -m stops for its empty message.
 */
const PRESETS: Readonly<Record<string, string>> = {
  GIT_TERMINAL_PROMPT: "0",
  GIT_EDITOR: "true",
  GIT_SEQUENCE_EDITOR: "true",
  EDITOR: "true",
  VISUAL: "true",
  PAGER: "cat",
  GIT_PAGER: "cat",
  MANPAGER: "cat",
  SYSTEMD_PAGER: "cat",
  SSH_ASKPASS_REQUIRE: "never",
  DEBIAN_FRONTEND: "noninteractive",
};

/** The environment for a shell command, made from what child processes of the session get (`ToolEnvironment.env`). */
export function shellEnvironment(env: Readonly<Record<string, string>>): Record<string, string> {
  const kept = Object.entries(env).filter(([name]) => !REMOVED.has(name) && !name.startsWith(EXPORTED_FUNCTION));
  return { ...Object.fromEntries(kept), ...PRESETS };
}
