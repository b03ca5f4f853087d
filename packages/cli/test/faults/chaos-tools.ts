import type { AgentTool } from "@tau/agent";

const parameters = { type: "object", properties: { n: { type: "number" } } } as const;
const LARGE = "large output ".repeat(400);

type Run = (signal: AbortSignal, update: (text: string) => void) => string | Promise<string>;

function tool(name: string, run: Run, more: Partial<AgentTool> = {}): AgentTool {
  return {
    name,
    label: name,
    description: `The tool ${name}.`,
    parameters,
    async execute(id, { n }, signal, onUpdate) {
      const result = (text: string) => ({ content: [{ type: "text" as const, text }], details: undefined });
      return result(`${name} ${n} ${id} ${await run(signal, (text) => onUpdate(result(text)))}`);
    },
    ...more,
  };
}

const turns = async (count: number) => {
  for (let turn = 0; turn < count; turn++) await new Promise((resolve) => setImmediate(resolve));
};

/** Waits for the abort; the listener goes with the session. */
const aborted = (signal: AbortSignal) =>
  new Promise<string>((resolve) => {
    if (signal.aborted) resolve("aborted");
    signal.addEventListener("abort", () => resolve("aborted"), { once: true });
  });

export interface ChaosToolHooks {
  /** Queues a message while a call runs. */
  steer(): void;
  /** Ends the run some time after a call began that does not end by itself. */
  stuck(): void;
  /** Resolves when the test is over: what tools that ignore an abort wait for. */
  over: Promise<void>;
}

/** Tools that work, fail, hang and do not listen. `deaf` and `slow` end when the run is stopped or on their own. */
export function chaosTools({ steer, stuck, over }: ChaosToolHooks): AgentTool[] {
  let deaf = 0;
  return [
    tool("ok", () => "done"),
    tool("fails", () => Promise.reject(new Error("it failed"))),
    tool("large", () => LARGE),
    tool("slow", async (signal, update) => {
      update("half way");
      await Promise.race([turns(20), aborted(signal)]);
      return "slow";
    }),
    // Every third one only comes back when all is over, whatever it is told.
    tool("deaf", async (signal, update) => {
      if (deaf++ % 3 !== 2) return "quick";
      void turns(30).then(stuck);
      void aborted(signal).then(() => update("late"));
      await over;
      return "late result";
    }),
    tool("ordered", () => turns(2).then(() => "in order"), { executionMode: "sequential" }),
    tool("steers", () => {
      steer();
      return "steered";
    }),
    // A tool of an extension that gives back nothing usable.
    tool("nothing", () => "", { execute: (async () => undefined) as unknown as AgentTool["execute"] }),
  ];
}
