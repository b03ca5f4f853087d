import type { Model, StreamFn, Usage } from "@tau/llm";
import { addUsage } from "../../compaction/summarise.ts";
import type { EntryDraft } from "../../store/entries.ts";

/** What requests beside the run are for, as their `usage` entry says. */
export type SideKind = "compaction" | "branch_summary";

/** A way to ask that adds up what the answers used, whether they helped or not. */
export interface MeteredStream {
  readonly streamFn: StreamFn;
  /** Undefined before the first answer. */
  used(): Usage | undefined;
}

export function metered(streamFn: StreamFn): MeteredStream {
  let usage: Usage | undefined;
  const add = (more: Usage) => {
    usage = addUsage(usage, more);
  };
  return {
    async streamFn(model, context, options) {
      const stream = await streamFn(model, context, options);
      // Whoever asked hears of a failure; it used nothing that could be counted.
      stream.result().then(
        (reply) => add(reply.usage),
        () => undefined,
      );
      return stream;
    },
    used: () => usage,
  };
}

/**
 * The entry of what was used beside the run (law F7). The summary's own entry has no usage, so that no reader counts
 * it twice.
 */
export function usageDraft(kind: SideKind, { provider, id }: Model, usage: Usage): EntryDraft {
  return { type: "usage", kind, provider, model: id, usage };
}
