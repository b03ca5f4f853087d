import { nodeStoreFs, type StoreFs } from "../store-fs.ts";

export interface FailingFs extends StoreFs {
  /** Bytes that still fit; a write is cut at that point, and the next one fails. */
  room: number;
  /** Error code of failing calls. */
  code: string;
  /** Calls that fail at once, whatever the room. */
  refuse: Set<keyof StoreFs>;
  writes: number;
}

/** A real file system with a disk that fills up. */
export function failingFs(room = Number.POSITIVE_INFINITY): FailingFs {
  const fail = (code: string): never => {
    throw Object.assign(new Error(`${code}: the disk refuses`), { code });
  };
  const guarded = (name: keyof StoreFs): void => {
    if (fs.refuse.has(name)) fail(fs.code);
  };
  const fs: FailingFs = {
    room,
    code: "ENOSPC",
    refuse: new Set(),
    writes: 0,
    mkdir(path) {
      guarded("mkdir");
      nodeStoreFs.mkdir(path);
    },
    open(path, flags) {
      guarded("open");
      return nodeStoreFs.open(path, flags);
    },
    write(fd, bytes, from) {
      guarded("write");
      if (fs.room <= 0) fail(fs.code);
      fs.writes++;
      const part = bytes.subarray(0, Math.min(bytes.length, from + fs.room));
      const count = nodeStoreFs.write(fd, part, from);
      fs.room -= count;
      return count;
    },
    stat: nodeStoreFs.stat,
    ...(nodeStoreFs.identify && { identify: nodeStoreFs.identify }),
    truncate(fd, size) {
      guarded("truncate");
      fs.room += nodeStoreFs.stat(fd).size - size;
      nodeStoreFs.truncate(fd, size);
    },
    fsync(fd) {
      guarded("fsync");
      nodeStoreFs.fsync(fd);
    },
    close: nodeStoreFs.close,
  };
  return fs;
}
