import { createHash, randomBytes } from "node:crypto";
import { accessSync, constants, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { FileProblem } from "./file-problem.ts";
import { makeFolder } from "./make-folder.ts";
import { sendSignal } from "./process-tree.ts";
import { codeOf } from "./thrown.ts";

/** Between two tries, in ms: a little different each time, so that two who wait do not keep step. */
const RETRY_MS = { least: 2, most: 12 };

/** Nobody holds a lock for longer than one read and one write of a file. */
const PATIENCE_MS = 15_000;

/** A lock without an owner's name is one whose owner died in the moment of its making. */
const UNNAMED_MS = 2_000;

export interface FileLock {
  /** Where locks lie, the same for all processes of a user. */
  readonly folder: string;
  /** Real path of the file. */
  readonly path: string;
  readonly signal: AbortSignal;
}

/**
 * Runs work on a file while no other process of the user does (report R241). A lock whose owner is dead is taken over.
 * @throws FileProblem when another process holds it for longer than 15 s
 */
export async function withFileLock<Result>(lock: FileLock, work: () => Promise<Result>): Promise<Result> {
  const name = createHash("sha1").update(lock.path).digest("hex");
  const place = join(lock.folder, `${name}.lock`);
  const mine = `${process.pid} ${randomBytes(8).toString("hex")}`;
  if (!isUsable(lock.folder)) return work();
  const deadline = performance.now() + PATIENCE_MS;
  while (!take(place, mine)) {
    lock.signal.throwIfAborted();
    if (performance.now() > deadline) {
      throw new FileProblem(
        "BUSY",
        `Another process has been writing ${lock.path} for 15 s. Nothing was done: try again.`,
      );
    }
    await wait(RETRY_MS.least + Math.random() * (RETRY_MS.most - RETRY_MS.least));
  }
  try {
    return await work();
  } finally {
    if (ownerOf(place) === mine) rmSync(place, { force: true });
  }
}

/** Where no lock can be made, the check of the version right before a file is replaced has to do. */
function isUsable(folder: string): boolean {
  try {
    makeFolder(folder, 0o700);
    accessSync(folder, constants.W_OK | constants.X_OK);
    return true;
  } catch (error) {
    if (codeOf(error) === undefined) throw error;
    return false;
  }
}

function take(place: string, mine: string): boolean {
  try {
    writeFileSync(place, mine, { flag: "wx", mode: 0o600 });
    return true;
  } catch (error) {
    if (codeOf(error) !== "EEXIST") throw error;
  }
  const owner = ownerOf(place);
  if (owner === undefined || isLive(place, owner)) return false;
  // Put aside under a name of one's own first: of two who find it dead, only one gets it.
  const aside = `${place}.${mine.replace(" ", "-")}`;
  try {
    renameSync(place, aside);
    // What was put aside may be the new lock of one who was faster: then it goes back.
    if (ownerOf(aside) === owner) rmSync(aside, { force: true });
    else renameSync(aside, place);
  } catch (error) {
    if (codeOf(error) !== "ENOENT") throw error;
  }
  return false;
}

function ownerOf(place: string): string | undefined {
  try {
    return readFileSync(place, "utf8");
  } catch (error) {
    if (codeOf(error) === "ENOENT") return undefined;
    throw error;
  }
}

function isLive(place: string, owner: string): boolean {
  const pid = Number(owner.split(" ")[0]);
  if (pid > 0) return sendSignal(pid, 0);
  const made = statSync(place, { throwIfNoEntry: false })?.mtimeMs;
  return made === undefined || Date.now() - made < UNNAMED_MS;
}
