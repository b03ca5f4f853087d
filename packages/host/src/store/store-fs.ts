import { closeSync, fstatSync, fsyncSync, ftruncateSync, openSync, statSync, writeSync } from "node:fs";
import { makeFolder } from "../platform/make-folder.ts";

/** What recording needs of a file system; tests put one in that fills up. Functions throw as those of `node:fs` do. */
export interface StoreFs {
  mkdir(path: string): void;
  open(path: string, flags: string): number;
  /** Returns the number of bytes written, which may be fewer than asked for. */
  write(fd: number, bytes: Uint8Array, from: number): number;
  /** Size of the open file in bytes, how many names it has, and, for `identify`, which file it is. */
  stat(fd: number): { size: number; nlink: number } & Partial<FileIdentity>;
  /**
   * Which file has this name; undefined when none has. Without this function a file that was renamed during a run is
   * not noticed.
   */
  identify?(path: string): FileIdentity | undefined;
  /** Cuts the open file to this size in bytes. */
  truncate(fd: number, size: number): void;
  fsync(fd: number): void;
  close(fd: number): void;
}

/** Device and number of a file: those of two files are never the same at one time. */
export interface FileIdentity {
  dev: number;
  ino: number;
}

// Sessions hold prompts, file contents and outputs: nobody else reads them.
const FOLDER_MODE = 0o700;
const FILE_MODE = 0o600;

export const nodeStoreFs: StoreFs = {
  mkdir: (path) => makeFolder(path, FOLDER_MODE),
  open: (path, flags) => openSync(path, flags, FILE_MODE),
  write: (fd, bytes, from) => writeSync(fd, bytes, from, bytes.length - from),
  stat: (fd) => fstatSync(fd),
  identify: (path) => statSync(path, { throwIfNoEntry: false }),
  truncate: ftruncateSync,
  fsync: fsyncSync,
  close: closeSync,
};
