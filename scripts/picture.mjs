// `npm run picture`: runs the demo of the built command and writes what it shows to docs/images/demo.svg.
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { terminalPicture } from "./picture/terminal-picture.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const home = mkdtempSync(join(tmpdir(), "tau-picture-"));
try {
  const command = join(root, "packages/cli/dist/tau.js");
  const env = { PATH: process.env.PATH ?? "", HOME: home, TAU_DIR: join(home, ".tau") };
  const shown = execFileSync(process.execPath, [command, "demo", "--no-session"], { encoding: "utf8", env });
  mkdirSync(join(root, "docs/images"), { recursive: true });
  const picture = terminalPicture(`$ tau demo\n${forReaders(shown)}`, { title: "tau fixes a failing test" });
  writeFileSync(join(root, "docs/images/demo.svg"), picture);
} finally {
  rmSync(home, { recursive: true, force: true });
}

/** The session without what differs from run to run, and without the advice at its end. */
function forReaders(text) {
  return text
    .replace(/copied to \S+\/price-list/, "copied to price-list")
    .replace(/ ---? duration_ms: [^\n]*/, " …")
    .replace(/\n\nTo work with a real model[\s\S]*?\n\n(?=The test now)/, "\n\n")
    .replace(/\nProject: [\s\S]*$/, "\n");
}
