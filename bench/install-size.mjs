import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";

function bytesBelow(folder) {
  return readdirSync(folder, { recursive: true })
    .map((name) => statSync(join(folder, name)))
    .reduce((sum, stat) => sum + (stat.isFile() ? stat.size : 0), 0);
}

/** Packs the command, installs the pack into an empty folder, and runs it: `{ megabytes, packages, version }`. */
export function installSize(cliFolder, scratch) {
  const npm = (args, cwd) =>
    execFileSync("npm", [...args, "--no-audit", "--no-fund", "--silent"], { cwd, encoding: "utf8" });
  const pack = npm(["pack", "--pack-destination", scratch], cliFolder).trim().split("\n").pop();
  const folder = join(scratch, "install");
  mkdirSync(folder);
  writeFileSync(join(folder, "package.json"), "{}");
  npm(["install", join(scratch, pack)], folder);
  const modules = join(folder, "node_modules");
  const lock = readdirSync(modules, { recursive: true }).filter((name) =>
    /(^|node_modules\/)(@[^/]+\/)?[^/@.][^/]*\/package\.json$/.test(name),
  );
  const version = execFileSync(process.execPath, [join(modules, "tau-agent/dist/tau.js"), "--version"], {
    encoding: "utf8",
  }).trim();
  return { megabytes: bytesBelow(modules) / 1e6, packages: lock.length, version };
}
