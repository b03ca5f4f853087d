import type { ChildProcess } from "node:child_process";
import type { Dice } from "./dice.ts";

/** When a process is killed: by what it has written, never by the clock. */
export type KillMoment =
  | { after: "start" }
  | { after: "lines"; count: number }
  | { after: "bytes"; count: number }
  | { after: "records"; type: string; count: number };

const TYPES = ["message_start", "message_update", "message_end", "tool_execution_start", "tool_execution_end"];

export function anyMoment(dice: Dice): KillMoment {
  const kind = dice.next();
  if (kind < 0.04) return { after: "start" };
  if (kind < 0.3) return { after: "lines", count: dice.int(1, 120) };
  if (kind < 0.5) return { after: "bytes", count: dice.int(1, 40_000) };
  return { after: "records", type: dice.pick(TYPES), count: dice.int(1, 6) };
}

/** Sends the signal once, when the moment has come. Call before anything of the output was read. */
export function signalAt(child: ChildProcess, moment: KillMoment, signal: NodeJS.Signals): void {
  if (moment.after === "start") {
    child.kill(signal);
    return;
  }
  const reached = meter(moment);
  let sent = false;
  child.stdout?.on("data", (chunk: Buffer | string) => {
    if (reached(String(chunk)) && !sent) sent = child.kill(signal);
  });
}

function meter(moment: Exclude<KillMoment, { after: "start" }>): (chunk: string) => boolean {
  const sought = moment.after === "records" ? `{"type":"${moment.type}"` : "\n";
  let seen = 0;
  let tail = "";
  return (chunk) => {
    if (moment.after === "bytes") seen += chunk.length;
    else {
      const text = tail + chunk;
      seen += text.split(sought).length - 1;
      tail = text.slice(text.lastIndexOf(sought) === -1 ? 1 - sought.length : text.lastIndexOf(sought) + sought.length);
      if (sought.length === 1) tail = "";
    }
    return seen >= moment.count;
  };
}
