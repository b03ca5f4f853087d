import type { AgentTool } from "@tau/agent";
import type { AgentSession } from "@tau/host";
import type { Model } from "@tau/llm";
import type { FailingFs } from "../../../host/src/store/__fixtures__/failing-fs.ts";
import type { Dice } from "./dice.ts";

/** What the acts know of the session that they are done to. */
export interface Victim {
  readonly session: AgentSession;
  readonly dice: Dice;
  readonly fs: FailingFs;
  readonly models: readonly Model[];
  readonly tools: readonly AgentTool[];
  /** What was said to the session and not taken back, in or behind the transcript. */
  readonly accepted: string[];
  /** Those of them that went into a queue. */
  readonly queued: Set<string>;
  /** A text that was not said before. */
  words(how: string): string;
  crash(): boolean;
}

/** Something that is done to a session between two events. Gives whether there was anything to do. */
export interface Act {
  readonly name: string;
  /** How likely it is at each event. */
  readonly share: number;
  run(chaos: Victim): boolean;
}

type Say = "steer" | "follow_up" | "interrupt";

function say(chaos: Victim, how: Say): boolean {
  const text = chaos.words(how);
  // Before it is said: a listener of the very queue may take it back.
  chaos.accepted.push(text);
  void chaos.session.dispatch({ type: how, message: text }).then(({ disposition }) => {
    if (disposition === "queued" && chaos.accepted.includes(text)) chaos.queued.add(text);
  });
  return true;
}

/** Acts by name. What a person, a program and a disk do at the worst moment. */
export const ACTS = {
  abort: { name: "abort", share: 0.012, run: ({ session }) => void session.abort() === undefined },
  steer: { name: "steer", share: 0.012, run: (chaos) => say(chaos, "steer") },
  followUp: { name: "followUp", share: 0.008, run: (chaos) => say(chaos, "follow_up") },
  interrupt: { name: "interrupt", share: 0.008, run: (chaos) => say(chaos, "interrupt") },
  takeQueued: {
    name: "takeQueued",
    share: 0.003,
    run({ session, accepted, queued }) {
      const some = session.state.pendingMessageCount > 0;
      void session.dispatch({ type: "clear_queue" }).then(({ steering, followUp }) => {
        for (const text of [...steering, ...followUp]) {
          accepted.splice(accepted.indexOf(text), 1);
          queued.delete(text);
        }
      });
      return some;
    },
  },
  tools: {
    name: "tools",
    share: 0.008,
    run({ session, tools, dice }) {
      session.configure({ tools: tools.filter(() => dice.chance(0.8)) });
      return true;
    },
  },
  systemPrompt: {
    name: "systemPrompt",
    share: 0.004,
    run({ session, dice }) {
      session.configure({
        systemPrompt: { sections: { role: "You are a test.", day: `It is day ${dice.int(1, 9)}.` } },
      });
      return true;
    },
  },
  model: {
    name: "model",
    share: 0.006,
    run({ session, models, dice }) {
      session.configure({ model: dice.pick(models) });
      void session.dispatch({ type: "set_thinking_level", level: dice.pick(["off", "low", "high"]) });
      return true;
    },
  },
  note: {
    name: "note",
    share: 0.006,
    run({ session }) {
      void session.dispatch({ type: "bash", command: "pwd" });
      return true;
    },
  },
  fillDisk: {
    name: "fillDisk",
    share: 0.006,
    run({ fs, dice }) {
      fs.room = dice.int(0, 3000);
      fs.code = dice.pick(["ENOSPC", "EDQUOT", "EROFS", "EIO"]);
      return true;
    },
  },
  healDisk: {
    name: "healDisk",
    share: 0.02,
    run({ fs }) {
      const ill = Number.isFinite(fs.room) || fs.refuse.size > 0;
      fs.room = Number.POSITIVE_INFINITY;
      fs.refuse.clear();
      return ill;
    },
  },
  crash: { name: "crash", share: 0.005, run: (chaos) => chaos.crash() },
  snapshot: { name: "snapshot", share: 0.004, run: ({ session }) => JSON.stringify(session.snapshot()).length > 0 },
} satisfies Record<string, Act>;
