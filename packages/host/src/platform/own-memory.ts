import { closeSync, openSync, readFileSync, readSync, writeSync } from "node:fs";

/** What is to be taken out of the blocks that the kernel shows to other processes. */
export interface Hidden {
  /** Whether the variable of this name holds a secret. */
  isSecret(name: string): boolean;
  /** Secrets that were given as arguments. */
  readonly words: readonly string[];
}

interface Block {
  readonly start: number;
  readonly end: number;
}

const NUL = "\0";

/**
 * Overwrites secrets in the arguments and variables that this process was started with: `ps` and `/proc/<pid>/environ`
 * show these bytes, to the commands of a model too (R309). What was read from them before stays. Linux only; elsewhere,
 * and where the kernel forbids it, the blocks stay as they are.
 *
 * @returns whether the blocks were looked through
 */
export function hideInOwnMemory({ isSecret, words }: Hidden): boolean {
  if (process.platform !== "linux") return false;
  try {
    const { args, variables } = ownBlocks();
    const memory = openSync("/proc/self/mem", "r+");
    try {
      overwrite(memory, variables, (text) => {
        const at = text.indexOf("=");
        return at > 0 && isSecret(text.slice(0, at)) ? [at + 1, text.length] : undefined;
      });
      if (words.length > 0) overwrite(memory, args, (text) => placeOf(text, words));
    } finally {
      closeSync(memory);
    }
    return true;
  } catch {
    return false; // A /proc without these files, or one that may not be written (docs/security.md).
  }
}

function placeOf(text: string, words: readonly string[]): [number, number] | undefined {
  const word = words.find((each) => text === each || text.endsWith(`=${each}`));
  return word === undefined ? undefined : [text.length - word.length, text.length];
}

/** proc(5): fields 48 to 51 are where arguments and variables begin and end; the third one follows the name. */
function ownBlocks(): { args: Block; variables: Block } {
  const stat = readFileSync("/proc/self/stat", "latin1");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const block = (from: number): Block => ({ start: Number(fields[from]), end: Number(fields[from + 1]) });
  return { args: block(45), variables: block(47) };
}

/** Writes stars over the part of each text of a block that `find` gives. */
function overwrite(memory: number, { start, end }: Block, find: (text: string) => [number, number] | undefined): void {
  const bytes = Buffer.alloc(Math.max(0, end - start));
  if (bytes.length === 0 || readSync(memory, bytes, 0, bytes.length, start) !== bytes.length) return;
  let offset = 0;
  // One character a byte, so that places in the text are places in the memory.
  for (const text of bytes.toString("latin1").split(NUL)) {
    const [from, to] = find(text) ?? [0, 0];
    if (to > from) writeSync(memory, Buffer.alloc(to - from, "*"), 0, to - from, start + offset + from);
    offset += text.length + 1;
  }
}
