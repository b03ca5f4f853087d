import type { ProcessGroups } from "../platform/process-groups.ts";
import type { SessionEvent } from "../session/events/session-event.ts";

/** What the tools of a session started and may still run. Nothing of it outlives the session (R080). */
export interface SessionProcesses {
  /** Undefined before the first tool. */
  readonly groups: ProcessGroups | undefined;
  /** To be subscribed; loads what it needs with the first tool, since it costs start-up time. */
  onEvent(event: SessionEvent): Promise<void> | undefined;
  /** To be called before something is started that no event announces. */
  load(): Promise<void>;
  /** Ends all of it in good order, within a second, for good. */
  end(): Promise<void>;
  /** Kills all of it at once. */
  kill(): void;
}

/** What else has to be done with the first tool, and with the end. */
export interface ProcessHooks {
  /** Awaited before the first tool runs. */
  onLoad?(): void | Promise<void>;
  onEnd?(): void;
}

export function sessionProcesses({ onLoad, onEnd }: ProcessHooks = {}): SessionProcesses {
  let groups: ProcessGroups | undefined;
  const registry = () => import("./process-registry.ts");
  const load = async () => {
    if (groups) return;
    await onLoad?.();
    const { openGroups } = await registry();
    groups ??= openGroups();
  };
  return {
    get groups() {
      return groups;
    },
    onEvent: (event) => (event.type === "tool_execution_start" && !groups ? load() : undefined),
    load,
    async end() {
      onEnd?.();
      if (groups) await (await registry()).closeGroups(groups);
    },
    kill: () => groups?.killNow(),
  };
}
