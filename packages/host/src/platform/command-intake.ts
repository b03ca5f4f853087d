import type { ChildProcess } from "node:child_process";
import type { OutputPipe } from "./output-pipe.ts";

/** What the shell left in the pipe is read at once; a little more time is for helpers like `> >(sed …)`. */
const DRAIN_MS = 100;

/** At most so much can lie in a pipe, or in two pairs of sockets, when the shell ends; the rest was written later (R070). */
const DRAIN_BYTES = { pipe: 64 * 1024, sockets: 512 * 1024 };

/** What a command may still print while it is ended; more than that is a flood. */
const LAST_WORDS_BYTES = 1024 * 1024;

/** The reading side of a running command. */
export interface CommandIntake {
  /** The command is being ended: some last words are taken, a flood is cut off, so that its writers end as well. */
  curb(): void;
  /** After the end of the shell: takes what it had written. True when no one can write any more. */
  drain(): Promise<boolean>;
  /** Continues reading without keeping tau alive; `onEnd` is called when the last writer is gone. */
  follow(onEnd: () => void): void;
  /** Stops reading. Writers that are left get EPIPE. */
  destroy(): void;
}

/** Reads stdout and stderr of `child`: from the pipe it was given, else from its two sockets. */
export function readOutput(
  child: ChildProcess,
  pipe: OutputPipe | undefined,
  onChunk: (chunk: Uint8Array) => void,
): CommandIntake {
  let budget = Number.POSITIVE_INFINITY;
  const waiting: { ended: (() => void)[]; spent: () => void } = { ended: [], spent: () => undefined };
  let ended = false;
  const take = (chunk: Uint8Array) => {
    const wanted = chunk.subarray(0, budget);
    budget -= wanted.length;
    if (wanted.length > 0) onChunk(wanted);
    if (budget === 0) waiting.spent();
  };
  const source = pipe ? pipeSource(pipe) : socketSource(child);
  source.read(take, () => {
    ended = true;
    for (const done of waiting.ended) done();
  });
  return {
    curb() {
      budget = LAST_WORDS_BYTES;
      waiting.spent = () => source.destroy();
    },
    async drain() {
      budget = Math.min(budget, pipe ? DRAIN_BYTES.pipe : DRAIN_BYTES.sockets);
      if (!ended) {
        await new Promise<void>((done) => {
          const timer = setTimeout(done, DRAIN_MS);
          const stop = () => {
            clearTimeout(timer);
            done();
          };
          waiting.ended.push(stop);
          waiting.spent = stop;
        });
      }
      return ended;
    },
    follow(onEnd) {
      budget = Number.POSITIVE_INFINITY;
      source.unref();
      if (ended) onEnd();
      else waiting.ended.push(onEnd);
    },
    destroy: () => source.destroy(),
  };
}

interface Source {
  read(onChunk: (chunk: Uint8Array) => void, onEnd: () => void): void;
  unref(): void;
  destroy(): void;
}

function pipeSource(pipe: OutputPipe): Source {
  return {
    read: (onChunk, onEnd) => pipe.read(onChunk, onEnd),
    unref: () => pipe.unref(),
    destroy: () => pipe.destroy(),
  };
}

function socketSource({ stdout, stderr }: ChildProcess): Source {
  const streams = [stdout, stderr].filter((stream) => stream !== null);
  return {
    read(onChunk, onEnd) {
      let open = streams.length;
      for (const stream of streams) {
        stream.on("data", onChunk);
        stream.on("error", () => stream.destroy());
        stream.on("close", () => {
          open--;
          if (open === 0) onEnd();
        });
      }
    },
    unref() {
      for (const stream of streams) if ("unref" in stream && typeof stream.unref === "function") stream.unref();
    },
    destroy() {
      for (const stream of streams) stream.destroy();
    },
  };
}
