import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { makeFolder } from "./make-folder.ts";

/**
 * Keeps a text in a new file (mode 0600) of a folder (made with 0700) for a person or a tool to look at later.
 * @returns the path, or undefined when it could not be written: the text was only a convenience
 */
export async function keepText(folder: string, name: string, text: string): Promise<string | undefined> {
  const safe = name.replace(/[^A-Za-z0-9_-]/g, "_").slice(0, 60);
  const path = join(folder, `${safe}-${Date.now().toString(36)}.txt`);
  try {
    makeFolder(folder, 0o700);
    await writeFile(path, text, { flag: "wx", mode: 0o600 });
    return path;
  } catch (error) {
    return void error;
  }
}
