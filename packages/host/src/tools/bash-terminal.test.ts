import { describe, expect, it } from "vitest";
import { runTool, workbench } from "./__fixtures__/workbench.ts";
import { createBashTool } from "./bash.ts";

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

  it("R081 a command has a session and a process group of its own", async () => {
    const run = await bash("cut -d' ' -f1,5,6,7 /proc/$$/stat", workbench());
    const [pid, group, session, terminal] = run.text.split(" ");
    expect([group, session, terminal]).toEqual([pid, pid, "0"]);
  });

  it("R081 git rebase --continue goes on without an editor", async () => {
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
});
