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
  "SUDO_ASKPASS",
  // Where gpg would ask, and editors of the user that would wait for him.
  "GPG_TTY",
  "GIT_EDITOR",
  "GIT_SEQUENCE_EDITOR",
  "VISUAL",
]);

/** Functions that were exported by the shell tau was started from (R074). */
const EXPORTED_FUNCTION = "BASH_FUNC_";

/**
 * No one sits at the terminal of a command, so nothing may wait for one (R081). The editor is `true`: git then takes the
 * text as it is, so `git rebase --continue` works and `git commit` without -m stops for its empty message. Nothing asks
 * for a password, in a window neither (R252): git takes an empty GIT_ASKPASS for "nobody".
 */
const PRESETS: Readonly<Record<string, string>> = {
  GIT_TERMINAL_PROMPT: "0",
  GIT_ASKPASS: "",
  GCM_INTERACTIVE: "never",
  GCM_GUI_PROMPT: "false",
  EDITOR: "true",
  PAGER: "cat",
  GIT_PAGER: "cat",
  MANPAGER: "cat",
  SYSTEMD_PAGER: "cat",
  SSH_ASKPASS_REQUIRE: "never",
  DEBIAN_FRONTEND: "noninteractive",
};

/**
 * Editors of git that stand in for those of the user's configuration. They are settings of the lowest rank of a command
 * line, so whatever a command says itself holds: `-c core.editor=…`, GIT_EDITOR, VISUAL and EDITOR (R251).
 */
const GIT_SETTINGS: readonly (readonly [string, string])[] = [
  ["core.editor", editorOf(`\${VISUAL:-\${EDITOR:-true}}`)],
  ["sequence.editor", editorOf("$(git var GIT_EDITOR)")],
];

/** git appends the file to it and gives all to a shell. */
function editorOf(command: string): string {
  return `f() { eval "${command} \\"\\$@\\""; }; f`;
}

/** Settings in the environment are numbered; those that are there stay. */
function gitSettings({ GIT_CONFIG_COUNT: given = "0" }: Readonly<Record<string, string>>): Record<string, string> {
  const first = /^\d{1,6}$/.test(given) ? Number(given) : 0;
  const numbered = GIT_SETTINGS.flatMap(([key, value], index) => [
    [`GIT_CONFIG_KEY_${first + index}`, key],
    [`GIT_CONFIG_VALUE_${first + index}`, value],
  ]);
  return { ...Object.fromEntries(numbered), GIT_CONFIG_COUNT: String(first + GIT_SETTINGS.length) };
}

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

const made = new WeakMap<object, Readonly<Record<string, string>>>();

/**
 * The environment for a shell command, made from what child processes of the session get (`ToolEnvironment.env`). Made
 * once for each: looking for an editor in all folders of the PATH costs as much as a tenth of a short command.
 */
export function shellEnvironment(env: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const known = made.get(env);
  if (known) return known;
  const kept = Object.entries(env).filter(([name]) => !REMOVED.has(name) && !name.startsWith(EXPORTED_FUNCTION));
  const own = Object.freeze({ ...Object.fromEntries(kept), ...PRESETS, ...gitSettings(env), ...vimPreset(env) });
  made.set(env, own);
  return own;
}
