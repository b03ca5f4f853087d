import { thinking, toolCall, type WireReply } from "@tau/llm/testing";
import type { KillMoment } from "../faults/kill-moment.ts";

/** One way a run can stop: what the server says, and the signal that ends the program, if one does. */
export interface Stop {
  readonly name: string;
  readonly replies: readonly WireReply[];
  readonly at?: { readonly moment: KillMoment; readonly signal: NodeJS.Signals };
}

const words = "one two three four five six seven eight nine ten eleven twelve ".repeat(4);
const call = toolCall("bash", { command: "echo hello; sleep 30" });
const quick = toolCall("bash", { command: "echo hello" });
const other = toolCall("read", { path: "missing.txt" });
const calls: WireReply = { content: [thinking("I think."), "I run it.", quick, other] };
const hangs = (content: WireReply["content"], afterDeltas: number): WireReply => ({
  content,
  chunkSize: 4,
  wire: { mode: "stall", afterDeltas },
});
const breaks = (content: WireReply["content"], afterDeltas: number): WireReply => ({
  content,
  chunkSize: 4,
  wire: { mode: "reset", afterDeltas },
});
const updates = (count: number): KillMoment => ({ after: "records", type: "message_update", count });
const running: KillMoment = { after: "records", type: "tool_execution_start", count: 1 };
const argumentsOf = [toolCall("bash", { command: "echo one; echo two; echo three; echo four" })];

/** Every moment of a run at which it can end, for a signal that is handled and for one that is not. */
export const STOPS: readonly Stop[] = [
  { name: "an answer", replies: [calls, { content: ["done"] }] },
  { name: "an answer that was cut at the limit", replies: [{ content: ["cut"], stopReason: "length" }] },
  {
    name: "a call that was cut at the limit",
    replies: [{ content: ["x", quick], stopReason: "length" }, { content: ["ok"] }],
  },
  { name: "a connection lost in the text", replies: [breaks([words], 4)] },
  { name: "a connection lost in the thinking", replies: [breaks([thinking(words), "text"], 3)] },
  { name: "a connection lost in a call", replies: [breaks(["I run it.", ...argumentsOf], 8)] },
  {
    name: "an error status",
    replies: [calls, { content: [], wire: { mode: "status", status: 400, body: { error: { message: "no" } } } }],
  },
  ...(["SIGINT", "SIGTERM", "SIGKILL"] as const).flatMap((signal): Stop[] => [
    { name: `${signal} in the text`, replies: [hangs([words], 6)], at: { moment: updates(4), signal } },
    {
      name: `${signal} in the thinking`,
      replies: [hangs([thinking(words), "text"], 6)],
      at: { moment: updates(4), signal },
    },
    {
      name: `${signal} in a call`,
      replies: [hangs(["I run it.", ...argumentsOf], 9)],
      at: { moment: updates(8), signal },
    },
    {
      name: `${signal} in a second call`,
      replies: [hangs([quick, ...argumentsOf], 12)],
      at: { moment: updates(12), signal },
    },
    {
      name: `${signal} in a tool`,
      replies: [{ content: [thinking("Hm."), "I run it.", call, other] }],
      at: { moment: running, signal },
    },
    {
      name: `${signal} before an answer`,
      replies: [calls, { content: [], wire: { mode: "no_response" } }],
      at: { moment: { after: "records", type: "turn_start", count: 2 }, signal },
    },
  ]),
];
