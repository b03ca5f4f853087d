import { findOnPath } from "./shell.ts";

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

/**
 * Without a terminal vim waits for keys on its stderr, for ever. This lets it give up (code 1) when it would wait for the
 * first key; `vim -c … -c wq` never does. The variable stands for the user's vimrc, which is therefore named.
 */
const VIM_GIVES_UP = "silent! source ~/.vimrc | silent! source ~/.vim/vimrc | silent! autocmd SafeState * cquit";

/** Neovim reads the variable as well and would leave out its own configuration: where it is, all stays as it is. */
function vimPreset(env: Readonly<Record<string, string>>): Record<string, string> {
  const hasOwn = env.VIMINIT !== undefined || findOnPath("nvim", env) !== undefined;
  return hasOwn ? {} : { VIMINIT: VIM_GIVES_UP };
}

/** The environment for a shell command, made from what child processes of the session get (`ToolEnvironment.env`). */
export function shellEnvironment(env: Readonly<Record<string, string>>): Record<string, string> {
  const kept = Object.entries(env).filter(([name]) => !REMOVED.has(name) && !name.startsWith(EXPORTED_FUNCTION));
  return { ...Object.fromEntries(kept), ...PRESETS, ...vimPreset(env) };
}
