interface Lane {
  /** Settles when everything queued so far is done; never rejects. */
  tail: Promise<unknown>;
  readonly keys: Set<string>;
  waiting: number;
}

/**
 * Runs tasks on the same file one after another, in the order of the calls; tasks on different files run side by side
 * (law G5). A file is a set of keys (see `fileKeys`): tasks that share one key share a lane, and a lane keeps all keys
 * it ever met until it is empty, because an atomic write gives a file a new inode under the feet of those who wait.
 */
export class WriteQueue {
  readonly #lanes = new Map<string, Lane>();

  /** The place in the queue is taken before this returns. The promise is that of the task. */
  run<Result>(keys: readonly string[], task: () => Promise<Result>): Promise<Result> {
    const lane = this.#laneOf(keys);
    lane.waiting++;
    const result = lane.tail.then(task);
    lane.tail = result.then(
      () => this.#leave(lane),
      () => this.#leave(lane),
    );
    return result;
  }

  #laneOf(keys: readonly string[]): Lane {
    const met = new Set<Lane>();
    for (const key of keys) {
      const lane = this.#lanes.get(key);
      if (lane) met.add(lane);
    }
    const [only, second] = met;
    const lane = only && !second ? only : joinLanes(met);
    for (const key of keys) lane.keys.add(key);
    for (const key of lane.keys) this.#lanes.set(key, lane);
    return lane;
  }

  #leave(lane: Lane): void {
    lane.waiting--;
    if (lane.waiting > 0) return;
    for (const key of lane.keys) {
      // A lane that was joined into another no longer owns its keys.
      if (this.#lanes.get(key) === lane) this.#lanes.delete(key);
    }
  }
}

function joinLanes(lanes: ReadonlySet<Lane>): Lane {
  const keys = new Set<string>();
  for (const lane of lanes) for (const key of lane.keys) keys.add(key);
  return { tail: Promise.all([...lanes].map((lane) => lane.tail)), keys, waiting: 0 };
}

/** One for the process: the tools of different sessions meet here. */
export const fileWrites = new WriteQueue();
