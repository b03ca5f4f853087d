import { constants, type Stats } from "node:fs";
import { type FileHandle, open, readdir, stat } from "node:fs/promises";
import { asFileProblem, FileProblem } from "./file-problem.ts";
import { kindOf } from "./files.ts";

const MAX_NAMES = 30;

/**
 * Opens a regular file for reading. Pipes, sockets and devices are refused before they are opened, since reading them
 * may never end; a folder's error lists what is in it. Throws a `FileProblem`; the caller closes the file.
 */
export async function openRegularFile(path: string, shown: string): Promise<{ file: FileHandle; stats: Stats }> {
  let file: FileHandle | undefined;
  try {
    await refuseOthers(await stat(path), path, shown);
    // Should a pipe have taken its place meanwhile, opening it must not wait for a writer.
    file = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    const stats = await file.stat();
    await refuseOthers(stats, path, shown);
    return { file, stats };
  } catch (error) {
    await file?.close();
    throw asFileProblem(error, "read", shown);
  }
}

async function refuseOthers(stats: Stats, path: string, shown: string): Promise<void> {
  if (stats.isFile()) return;
  if (stats.isDirectory()) throw await folderProblem(path, shown);
  throw new FileProblem("NOT_A_FILE", `Cannot read ${shown}: it is ${kindOf(stats)}, not a regular file.`);
}

async function folderProblem(path: string, shown: string): Promise<FileProblem> {
  const entries = await readdir(path, { withFileTypes: true });
  const names = entries.slice(0, MAX_NAMES).map((entry) => (entry.isDirectory() ? `${entry.name}/` : entry.name));
  const more = entries.length > MAX_NAMES ? ` and ${entries.length - MAX_NAMES} more` : "";
  const content = entries.length === 0 ? "It is empty." : `It holds: ${names.join(", ")}${more}.`;
  return new FileProblem("EISDIR", `${shown} is a folder, not a file. ${content}`);
}
