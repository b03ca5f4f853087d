import { mkdirSync, readFileSync, readlinkSync, realpathSync, rmSync, statSync } from "node:fs";
import { createConnection, createServer } from "node:net";
import { dirname, resolve } from "node:path";
import { listProcesses } from "./process-tree.ts";

/** The longest path of a socket that every system takes, in bytes. */
const MAX_PATH = 100;
/** How long a process waits for an answer; the one above may be busy. */
const PATIENCE_MS = 3_000;
/** A question is a process id and a line feed. */
const MAX_QUESTION = 16;

export interface PrivateChannel {
  close(): void;
}

/**
 * Answers questions of this program's own descendants: a socket that only this user can reach, at which a process of
 * another program or from another tree gets nothing. It does not keep the process alive. Resolves when it can be asked,
 * with undefined when the system has no such place.
 *
 * @param answer asked anew for each question; a secret may be in it
 */
export async function openPrivateChannel(path: string, answer: () => string): Promise<PrivateChannel | undefined> {
  if (Buffer.byteLength(path) > MAX_PATH || process.platform === "win32") return undefined;
  const server = createServer((socket) => {
    let question = "";
    socket.setEncoding("latin1").setTimeout(PATIENCE_MS, () => socket.destroy());
    socket.on("error", () => socket.destroy());
    socket.on("data", (text) => {
      question += String(text);
      if (question.length > MAX_QUESTION) socket.destroy();
      else if (question.endsWith("\n")) socket.end(isOwnDescendant(Number(question)) ? answer() : "");
    });
  });
  const remove = () => rmSync(path, { force: true });
  const listening = await new Promise<boolean>((done) => {
    server.once("error", () => done(false));
    try {
      mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
      // One that was killed long ago may have had the same id.
      remove();
      server.listen(path, () => done(true));
    } catch {
      done(false); // Nothing can be made there: commands then work without what they would have got.
    }
  });
  if (!listening) return undefined;
  server.unref();
  process.once("exit", remove);
  return {
    close() {
      server.close();
      process.off("exit", remove);
      remove();
    },
  };
}

/** The answer of the program above; undefined when there is none, or it does not know this process as its own. */
export function askPrivateChannel(path: string): Promise<string | undefined> {
  return new Promise((done) => {
    let answer = "";
    const socket = createConnection(path);
    socket.setEncoding("utf8").setTimeout(PATIENCE_MS, () => socket.destroy());
    socket.on("connect", () => socket.write(`${process.pid}\n`));
    socket.on("data", (text) => {
      answer += String(text);
    });
    socket.on("error", () => socket.destroy());
    socket.on("close", () => done(answer === "" ? undefined : answer));
  });
}

function isOwnDescendant(pid: number): boolean {
  const parents = new Map(listProcesses().map((entry) => [entry.pid, entry.parent]));
  let above = parents.get(pid);
  while (above !== undefined && above !== process.pid) above = parents.get(above);
  return above === process.pid && programOf(pid) === programOf(process.pid);
}

/**
 * What a process runs: its interpreter and its first argument that is a file. Linux only; elsewhere all are alike.
 */
function programOf(pid: number): string | undefined {
  if (process.platform !== "linux") return "";
  try {
    const folder = readlinkSync(`/proc/${pid}/cwd`);
    const [, ...args] = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
    const script = args.filter((each) => each !== "").find((each) => isFile(resolve(folder, each)));
    if (script === undefined) return undefined;
    return `${readlinkSync(`/proc/${pid}/exe`)}\0${realpathSync(resolve(folder, script))}`;
  } catch {
    return undefined; // It ended, or is another user's.
  }
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
}
