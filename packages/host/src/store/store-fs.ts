import { closeSync, fstatSync, fsyncSync, ftruncateSync, openSync, writeSync } from "node:fs";
import { makeFolder } from "../platform/make-folder.ts";

/** What recording needs of a file system; tests put one in that fills up. Functions throw as those of `node:fs` do. */
export interface StoreFs {
  mkdir(path: string): void;
  open(path: string, flags: string): number;
  /** Returns the number of bytes written, which may be fewer than asked for. */
  write(fd: number, bytes: Uint8Array, from: number): number;
  /** Size of the open file in bytes, and how many names it has. */
  stat(fd: number): { size: number; nlink: number };
  /** Cuts the open file to this size in bytes. */
  truncate(fd: number, size: number): void;
  fsync(fd: number): void;
  close(fd: number): void;
}

// Sessions hold prompts, file contents and outputs: nobody else reads them.
const FOLDER_MODE = 0o700;
const FILE_MODE = 0o600;

export const nodeStoreFs: StoreFs = {
  mkdir: (path) => makeFolder(path, FOLDER_MODE),
  open: (path, flags) => openSync(path, flags, FILE_MODE),
  write: (fd, bytes, from) => writeSync(fd, bytes, from, bytes.length - from),
  stat: (fd) => fstatSync(fd),
  truncate: ftruncateSync,
  fsync: fsyncSync,
  close: closeSync,
};
