import type { Emit } from "./config.ts";
import { errorText, guarded } from "./values.ts";

/** Delivers one event at a time, in order, without a promise where none is needed. A throw becomes `listener_error` (law L3). */
export function serialEmit(emit: Emit): Emit {
  let last: Promise<void> | undefined;
  const deliver: Emit = (event) => {
    // When the report itself fails nobody is left to hear of it.
    const failed = async (error: unknown) => {
      const report = { type: "listener_error" as const, event: event.type, error: errorText(error) };
      if (event.type !== report.type) await deliver(report);
    };
    return guarded(() => emit(event), failed);
  };
  return (event) => {
    const settled = (last ? last.then(() => deliver(event)) : deliver(event))?.then(() => {
      if (last === settled) last = undefined;
    });
    last = settled ?? last;
    return settled;
  };
}
