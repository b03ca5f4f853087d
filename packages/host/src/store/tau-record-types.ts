/** Says where the leaf is: `{leafId}`. Hangs below that very entry, so that a reader that knows no such record is on the right branch too. */
export const LEAF_RECORD = "tau.leaf";
/** Written before a tool runs: `{toolCallId, toolName}` (law F10). */
export const CALL_STARTED_RECORD = "tau.call_started";
/** The whole queues after a change: `{steering, followUp}`. */
export const QUEUE_RECORD = "tau.queue";
