import {
  type ScriptReply,
  type ScriptToolCall,
  text,
  thinking,
  toolCall,
  type WireFault,
  type WireReply,
} from "@tau/llm/testing";
import type { Dice } from "./dice.ts";

/** The words of the last reply of each script. */
export const THE_END = "That was all.";

/** Commands leave one letter in `ran/<id of the call>` each time they run. */
export const RAN_FOLDER = "ran";

const LONG_TEXT = 300_000;

type MakeCall = (id: string, dice: Dice) => ScriptToolCall;

const mark = (id: string) => `printf x >> ${RAN_FOLDER}/${id}`;

// What a call does; those of the files' tools and the broken ones leave no mark.
const CALLS: readonly MakeCall[] = [
  (id) => toolCall("bash", { command: `${mark(id)}; echo out ${id}` }, id),
  (id) => toolCall("bash", { command: `${mark(id)}; sleep 0.05; echo slow ${id}` }, id),
  (id) => toolCall("bash", { command: `${mark(id)}; seq 3000; exit 3` }, id),
  (id, dice) => toolCall("write", { path: `made/${id}.txt`, content: "line\n".repeat(dice.int(1, 400)) }, id),
  (id) => toolCall("read", { path: "seed.txt" }, id),
  (id) => toolCall("edit", { path: "seed.txt", edits: [{ oldText: "seed", newText: "seed" }] }, id),
  (id) => toolCall("read", { path: `missing-${id}.txt` }, id),
  (id) => toolCall("no_such_tool", { x: 1 }, id),
  (id) => ({ ...toolCall("bash", {}, id), rawArguments: '{"command": "ec' }),
];

// Its line in the file takes the kernel long enough that a kill can cut it.
const longWrite: MakeCall = (id) =>
  toolCall("write", { path: `made/${id}.txt`, content: "long ".repeat(LONG_TEXT / 5) }, id);

/** A conversation of some turns: batches of one to four calls, answers between them, and the end. */
export function scriptPlan(dice: Dice): ScriptReply[] {
  const steps = dice.list(dice.int(6, 14), (step) => (dice.chance(0.25) ? answer(dice, step) : batch(dice, step)));
  return [...steps, { content: [text(THE_END)] }];
}

function answer(dice: Dice, step: number): ScriptReply {
  const words = Array.from({ length: dice.int(1, 60) }, (_, index) => `word${step}-${index}`).join(" ");
  return { content: [text(words)], chunkSize: dice.pick([5, 64, 1000]) };
}

function batch(dice: Dice, step: number): ScriptReply {
  const calls = dice.list(dice.int(1, 4), (index) => {
    const make = dice.chance(0.05) ? longWrite : dice.pick(CALLS);
    return make(`call_${step}_${index}`, dice);
  });
  const before = dice.chance(0.3) ? [thinking(`I think of step ${step}.`)] : [];
  return { content: [...before, ...calls], chunkSize: dice.pick([20, 500, 5000]) };
}

/** Passing faults of a provider before anything of an answer has come, and in the middle of one. */
const BEFORE: readonly WireFault[] = [
  { mode: "status", status: 503 },
  { mode: "status", status: 529, body: { type: "error", error: { type: "overloaded_error", message: "Overloaded" } } },
  { mode: "status", status: 429 },
  { mode: "raw", body: "" },
  { mode: "headers_only" },
];
const AMID: readonly WireFault[] = [
  { mode: "reset", afterDeltas: 1 },
  { mode: "half_frame", afterDeltas: 1 },
  { mode: "no_end", afterDeltas: 1 },
  { mode: "error", afterDeltas: 1, error: { type: "overloaded_error", message: "Overloaded" } },
  { mode: "stall", afterDeltas: 1 },
];

/** An answer with a fault that a retry fixes. A call that broke off would come again under the same id: not in the middle of one. */
export function faultyReply(dice: Dice, reply: ScriptReply): WireReply {
  const speaks = reply.content.every((block) => typeof block === "string" || block.type !== "toolCall");
  return { ...reply, wire: dice.pick(speaks ? [...BEFORE, ...AMID] : BEFORE) };
}
