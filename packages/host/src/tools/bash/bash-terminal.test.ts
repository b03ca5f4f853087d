import { chmodSync, existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { findOnPath } from "../../platform/shell.ts";
import { runTool, workbench } from "../__fixtures__/workbench.ts";
import { createBashTool } from "./bash-tool.ts";

const path = { PATH: process.env.PATH ?? "" };
const hasVim = findOnPath("vim", path) !== undefined && findOnPath("nvim", path) === undefined;

function bash(command: string, bench = workbench(), timeout?: number) {
  return runTool(createBashTool(bench), timeout === undefined ? { command } : { command, timeout });
}

describe("bash: no person at a terminal", () => {
  it.each([
    [
      "git commit without -m",
      "git init -q . && git -c user.name=a -c user.email=a@b commit --allow-empty; echo $?",
      /empty commit message[\s\S]*\n1$/i,
    ],
    ["reading the terminal", "read x </dev/tty; echo $?", /\/dev\/tty[\s\S]*\n1$/],
    ["stty", "stty </dev/tty; echo $?", /\/dev\/tty/],
    ["a pager", "git init -q . && git config core.pager 'less' && git log -1 2>&1; tty; echo end", /not a tty\nend$/],
    ["python3", "python3; echo $?", /^0$/],
    [
      "the user's own editor",
      "git init -q . && git -c user.name=a -c user.email=a@b commit -q --allow-empty -m one && git -c user.name=a -c user.email=a@b commit -q --allow-empty --amend && git log --format=%s",
      /^one$/,
    ],
  ])("R081 %s ends at once", async (_name, command, expected) => {
    const bench = workbench(
      {},
      { EDITOR: "sleep 999", GIT_EDITOR: "sleep 999", VISUAL: "sleep 999", PAGER: "sleep 999" },
    );
    expect((await bash(command, bench)).text).toMatch(expected);
  });

  const REPOSITORY =
    "git init -q -b main . && git config user.name a && git config user.email a@b && git config core.editor 'sleep 999' && git config sequence.editor 'sleep 999' && for i in one two three; do git commit -q --allow-empty -m $i; done && ";
  it.each([
    ["-c sequence.editor", "git -c sequence.editor='sed -i 2d' rebase -q --keep-empty -i HEAD~2", "two\none"],
    ["GIT_SEQUENCE_EDITOR", "GIT_SEQUENCE_EDITOR='sed -i 2d' git rebase -q -i HEAD~2", "two\none"],
    ["GIT_EDITOR", "GIT_EDITOR=\"sed -i 's/three/a b/'\" git commit -q --allow-empty --amend", "a b\ntwo\none"],
    ["EDITOR", "EDITOR=\"sed -i 's/three/a b/'\" git commit -q --allow-empty --amend", "a b\ntwo\none"],
    ["VISUAL", "VISUAL='sed -i s/three/four/' git commit -q --allow-empty --amend", "four\ntwo\none"],
    ["-c core.editor", "git -c core.editor='sed -i s/three/four/' commit -q --allow-empty --amend", "four\ntwo\none"],
    ["EDITOR as the sequence editor", "EDITOR='sed -i 2d' git rebase -q -i HEAD~2", "two\none"],
    ["git config", "git config core.editor 'sed -i s/three/four/'; git rebase -q -i HEAD~2", "three\ntwo\none"],
    ["no editor", "git commit -q --allow-empty --amend && git rebase -q -i HEAD~2", "three\ntwo\none"],
  ])("R251 what a command says by %s beats the preset", async (_how, command, expected) => {
    const run = await bash(
      `${REPOSITORY}${command} && git log --format=%s`,
      workbench({}, { GIT_EDITOR: "sleep 999" }),
    );
    expect(run.text).toBe(expected);
  });

  it("R251 settings of git in the environment stay", async () => {
    const env = { GIT_CONFIG_COUNT: "1", GIT_CONFIG_KEY_0: "user.name", GIT_CONFIG_VALUE_0: "Somebody" };
    expect((await bash("git config user.name; git config core.editor | wc -l", workbench({}, env))).text).toBe(
      "Somebody\n1",
    );
  });

  it("R252 programs that would ask for a password in a window are not asked", async () => {
    const bench = workbench();
    const window = join(bench.homeDir, "window");
    writeFileSync(window, `#!/bin/sh\ntouch ${bench.homeDir}/asked; sleep 999\n`);
    chmodSync(window, 0o755);
    const env = { ...bench.env, GIT_ASKPASS: window, SSH_ASKPASS: window, SUDO_ASKPASS: window, GPG_TTY: "/dev/tty" };
    const ask = "printf 'protocol=https\\nhost=h\\n\\n' | git -c core.askPass=$HOME/window credential fill; echo $?";
    const run = await bash(`${ask}; echo "[$GPG_TTY$SUDO_ASKPASS$SSH_ASKPASS]"`, { ...bench, env });
    expect(run.text).toMatch(/could not read Username[\s\S]*\n128\n\[\]/);
    expect(existsSync(join(bench.homeDir, "asked"))).toBe(false);
  });

  it("R081 a command has a session and a process group of its own", async () => {
    const run = await bash("cut -d' ' -f1,5,6,7 /proc/$$/stat", workbench());
    const [pid, group, session, terminal] = run.text.split(" ");
    expect([group, session, terminal]).toEqual([pid, pid, "0"]);
  });

  it("R081 git rebase --continue continues without an editor", async () => {
    const bench = workbench(
      {},
      {
        GIT_EDITOR: "sleep 999",
        GIT_AUTHOR_NAME: "a",
        GIT_AUTHOR_EMAIL: "a@b",
        GIT_COMMITTER_NAME: "a",
        GIT_COMMITTER_EMAIL: "a@b",
      },
    );
    const setup =
      "git init -q -b main . && echo 0 >f && git add f && git commit -qm 0 && git checkout -qb side && echo 1 >f && git commit -qam one";
    const conflict =
      "git checkout -q main && echo 2 >f && git commit -qam two && git checkout -q side && ! git rebase -q main";
    const run = await bash(
      `${setup} && ${conflict} && echo 3 >f && git add f && git rebase --continue && git log --format=%s`,
      bench,
    );
    expect(run.text).toMatch(/one\ntwo\n0$/);
  });

  it.each([
    ["password", "echo 'sudo: a terminal is required to read the password' >&2; exit 1"],
    [
      "password",
      "echo \"fatal: could not read Username for 'https://example.com': terminal prompts disabled\"; exit 128",
    ],
    ["password", "echo 'git@example.com: Permission denied (publickey).'; exit 255"],
    ["terminal", "read x </dev/tty || exit 1"],
    ["terminal", "echo 'the input device is not a TTY'; exit 1"],
  ])("R082 says that a command wants a %s", async (kind, command) => {
    const run = await bash(command, workbench());
    expect(run.details.needsPerson).toBe(kind);
    expect(run.text).toContain("[needs a person: ");
  });

  it("R082 says nothing of the kind when the command succeeded", async () => {
    expect((await bash("echo 'sudo: a password is required'", workbench())).details.needsPerson).toBeUndefined();
  });

  // Vim itself takes two seconds for its warnings.
  it.for(["vim a.txt", "vi a.txt", "vim -R -c startinsert a.txt"])(
    "R081 R082 `%s` gives up, says why, and changes nothing",
    async (command, { skip }) => {
      skip(!hasVim, "vim is not installed");
      const run = await bash(`echo one >a.txt; ${command}; code=$?; ls -A; cat a.txt; exit $code`, workbench(), 15);
      expect(run.details).toMatchObject({ end: "exit", exitCode: 1, needsPerson: "terminal" });
      expect(run.text).toMatch(/\na\.txt\none\n/);
    },
  );

  it("R081 vim does the commands it was given, with the vimrc of the user", async ({ skip }) => {
    skip(!hasVim, "vim is not installed");
    const bench = workbench();
    const vimrc = "echo 'command Shout s/one/ONE/' >~/.vimrc; echo one >a.txt;";
    const run = await bash(`${vimrc} vim -c Shout -c wq a.txt >log 2>&1; echo $?; cat a.txt`, bench, 15);
    expect(run.text).toBe("0\nONE");
    expect((await bash("vim -es -c 's/ONE/two/' -c wq a.txt; cat a.txt", bench)).text).toBe("two");
  });

  it("leaves a VIMINIT of the user and the configuration of Neovim alone", async () => {
    expect((await bash("echo $VIMINIT", workbench({}, { VIMINIT: "set nocp" }))).text).toBe("set nocp");
    const bench = workbench();
    await bash("mkdir bin; echo >bin/nvim; chmod +x bin/nvim", bench);
    const env = { ...bench.env, PATH: `${bench.cwd}/bin:${bench.env.PATH}` };
    expect((await bash("echo -$VIMINIT-", { ...bench, env })).text).toBe("--");
  });
});
