import { inject } from "vitest";

/** How much a run with random faults does, and from which seed. */
export interface RunSize {
  readonly seed: number;
  /** Processes that are killed. */
  readonly kills: number;
  /** Sessions with random faults. */
  readonly sessions: number;
}

declare module "vitest" {
  export interface ProvidedContext {
    /** Given by scripts/soak.mjs. */
    runSize: RunSize;
  }
}

// Small enough for every run of the tests, and the same each time.
const EVERY_RUN: RunSize = { seed: 20_260, kills: 40, sessions: 60 };

/** The full size when `npm run soak` asks for it. */
export const runSize: RunSize = inject("runSize") ?? EVERY_RUN;

/** Whether this is the full size: then figures are shown. */
export const soaking: boolean = runSize !== EVERY_RUN;
