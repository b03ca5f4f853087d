import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, constants, fstatSync, mkdtempSync, openSync, rmSync } from "node:fs";
import { type ConnectOpts, Socket, type SocketConstructorOpts } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isMainThread } from "node:worker_threads";

/** Bytes that one read takes; the size of a Linux pipe. One piece of memory serves all reads, so floods make no garbage. */
const READ_BYTES = 64 * 1024;

/** How many unused pipes are kept for later commands. */
const MAX_IDLE = 10;

/** One end to give to a child as stdout and as stderr, one to read. */
export interface OutputPipe {
  /** The descriptor for the child; the caller closes its own copy by `closeWriter` after the spawn. */
  readonly writer: number;
  /** What tells which processes have it open. */
  readonly file: { dev: number; ino: number };
  closeWriter(): void;
  /** Starts reading. `onChunk` gets memory that is valid during the call only; `onEnd` comes once, at EOF or error. */
  read(onChunk: (chunk: Uint8Array) => void, onEnd: () => void): void;
  /** Lets the process end although the pipe is still open. */
  unref(): void;
  /** Stops reading; writers that are left get EPIPE. */
  destroy(): void;
}

/**
 * Real pipes for children, made from FIFOs. Node's own "pipe" is a pair of sockets, one each for stdout and stderr: the
 * order between the two is lost, and `echo x >/dev/stderr` fails, since a socket cannot be opened by name. A FIFO is made
 * by one `mkfifo` when first needed, removed from the disk at once, and used again by later commands through
 * /proc/self/fd. On the main thread of Linux only; elsewhere `open` gives undefined and the caller takes sockets.
 */
class OutputPipes {
  readonly #idle: number[] = [];
  // A worker thread closes at its end what it has opened, also a number that a socket closed and others have got since.
  #unsupported = process.platform !== "linux" || !isMainThread;

  async open(): Promise<OutputPipe | undefined> {
    if (this.#unsupported) return undefined;
    try {
      return this.#connect(this.#idle.pop() ?? (await makeFifo()));
    } catch {
      // No mkfifo, no /proc, a temp dir without FIFOs: sockets do as well, only less exactly.
      this.#unsupported = true;
      return undefined;
    }
  }

  #connect(keeper: number): OutputPipe {
    const name = `/proc/self/fd/${keeper}`;
    const reader = openSync(name, constants.O_RDONLY | constants.O_NONBLOCK);
    const writer = openSync(name, constants.O_WRONLY);
    let socket: Socket | undefined;
    return {
      writer,
      file: fstatSync(keeper),
      closeWriter: () => closeSync(writer),
      read: (onChunk, onEnd) => {
        socket = readFrom(reader, onChunk, (clean) => {
          this.#release(keeper, clean);
          onEnd();
        });
      },
      unref: () => socket?.unref(),
      destroy: () => {
        if (socket) socket.destroy();
        else closeSync(reader);
      },
    };
  }

  /** After EOF no one holds the other end: the FIFO is as new. Otherwise closing it is what ends its writers. */
  #release(keeper: number, clean: boolean): void {
    if (clean && this.#idle.length < MAX_IDLE) this.#idle.push(keeper);
    else closeSync(keeper);
  }
}

/** Shared by all sessions of the process: pipes hold no state of a session. */
export const outputPipes = new OutputPipes();

async function makeFifo(): Promise<number> {
  const directory = mkdtempSync(join(tmpdir(), "tau-pipe-"));
  try {
    const path = join(directory, "fifo");
    const child = spawn("mkfifo", ["-m", "600", path], { stdio: "ignore" });
    await once(child, "exit");
    return openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

const readMemory = Buffer.alloc(READ_BYTES);

function readFrom(descriptor: number, onChunk: (chunk: Uint8Array) => void, onClose: (clean: boolean) => void): Socket {
  let ended = false;
  // @types/node knows onread for connections only; net.Socket documents it for descriptors as well.
  const options: SocketConstructorOpts & ConnectOpts = {
    fd: descriptor,
    readable: true,
    writable: false,
    onread: {
      buffer: readMemory,
      callback: (count, memory) => {
        onChunk(memory.subarray(0, count));
        return true;
      },
    },
  };
  const socket = new Socket(options);
  socket.on("end", () => {
    ended = true;
  });
  // An error closes the socket as well; there is nothing more to know about a pipe that broke.
  socket.on("error", () => socket.destroy());
  socket.on("close", () => onClose(ended));
  return socket;
}
