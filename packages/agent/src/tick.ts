let next: Promise<void> | undefined;

/** One turn of the event loop, so that timers and input stay alive (law T7). All who wait share it. */
export function tick(): Promise<void> {
  const schedule = typeof setImmediate === "undefined" ? setTimeout : setImmediate;
  next ??= new Promise<void>((resolve) => schedule(resolve)).finally(() => {
    next = undefined;
  });
  return next;
}
