import { spawn } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

const COPIED = [
  "packages",
  "scripts",
  "docs",
  "ARCHITECTURE.md",
  "package.json",
  "tsconfig.base.json",
  "vitest.config.ts",
];

/** A copy of the tree in which files may be broken. The dependencies are links to those of the project. */
export class Workshop {
  constructor(root = process.cwd()) {
    this.folder = mkdtempSync(join(tmpdir(), "tau-mutate-"));
    for (const name of COPIED) cpSync(join(root, name), join(this.folder, name), { recursive: true });
    const own = join(this.folder, "node_modules");
    mkdirSync(join(own, "@tau"), { recursive: true });
    for (const name of readdirSync(join(root, "node_modules"))) {
      if (name !== "@tau" && !name.startsWith(".")) symlinkSync(resolve(root, "node_modules", name), join(own, name));
    }
    for (const name of readdirSync(join(root, "packages")))
      symlinkSync(join("../../packages", name), join(own, "@tau", name));
  }

  write(path, text) {
    writeFileSync(join(this.folder, path), text);
  }

  /**
   * Runs test files until one fails. Out: `passed`, `failed`, or `hung` when they took longer than `limitMs`.
   */
  run(tests, limitMs) {
    const args = ["node_modules/vitest/vitest.mjs", "run", "--bail", "1", "--reporter", "dot", ...tests];
    // A group of its own, so that what a broken test started ends with it.
    const child = spawn(process.execPath, args, { cwd: this.folder, stdio: "ignore", detached: true });
    return new Promise((done) => {
      const end = (outcome) => {
        clearTimeout(timer);
        endGroup(child.pid);
        done(outcome);
      };
      const timer = setTimeout(() => end("hung"), limitMs);
      child.on("exit", (code) => end(code === 0 ? "passed" : "failed"));
      child.on("error", () => end("failed"));
    });
  }

  remove() {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

function endGroup(pid) {
  try {
    process.kill(-pid, "SIGKILL");
  } catch (error) {
    if (error.code !== "ESRCH") throw error;
  }
}
