import type { ProcessGroups, SessionEvent } from "@tau/host";
import { keepYoungGenerationSmall } from "./young-generation.ts";

/** What the tools of the session in use started and may still run. */
export interface SessionProcesses {
  /** To be subscribed; loads what it needs with the first tool, since it costs start-up time. */
  onEvent(event: SessionEvent): Promise<void> | undefined;
  /** To be called before something is started that no event tells of. */
  load(): Promise<void>;
  /** Ends all of it in good order, within a second. */
  end(): Promise<void>;
  /** Kills all of it at once. */
  kill(): void;
}

/** Sees to it that nothing outlives the session, however the process ends (R080). */
export function sessionProcesses(): SessionProcesses {
  let groups: ProcessGroups | undefined;
  const load = async () => {
    if (groups) return;
    keepYoungGenerationSmall();
    groups = (await import("./process-registry.ts")).processGroups;
    // A crash or an exit that nobody saw coming comes by here.
    process.once("exit", () => groups?.killNow());
  };
  return {
    onEvent: (event) => (event.type === "tool_execution_start" && !groups ? load() : undefined),
    load,
    end: async () => groups?.endAll(),
    kill: () => groups?.killNow(),
  };
}
