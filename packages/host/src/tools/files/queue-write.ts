import { join } from "node:path";
import type { AgentToolResult } from "@tau/agent";
import { FileProblem } from "../../platform/file-problem.ts";
import { fileKeys, realTarget, resolvePath } from "../../platform/real-path.ts";
import { temporaryFolder } from "../../platform/temporary-folder.ts";
import { fileWrites } from "../../platform/write-queue.ts";
import { errorResult, type ToolEnvironment } from "../definition.ts";

export interface QueuedWrite {
  /** As the model gave it; taken exactly (R069). */
  readonly path: string;
  readonly environment: ToolEnvironment;
  readonly signal: AbortSignal;
}

/** One for all processes of the user, whatever their session. */
function lockFolder(): string {
  return join(temporaryFolder().path, "locks");
}

/**
 * Runs the work of a tool that changes a file when its turn has come (law G5). The place in the queue is taken in this
 * very call, before anything asynchronous, so that calls started in order write in order (R061). `work` gets the real
 * path. A `FileProblem` becomes an error result.
 */
export async function queueWrite(
  { path, environment, signal }: QueuedWrite,
  work: (realPath: string) => Promise<AgentToolResult>,
): Promise<AgentToolResult> {
  try {
    if (/[\\/]$/.test(path)) throw new FileProblem("EISDIR", `${path} names a folder: a file is needed.`);
    const given = resolvePath(path, environment);
    return await fileWrites.run(fileKeys(realTarget(given)), async () => {
      signal.throwIfAborted();
      // Once more, since a task before this one may have made or moved links.
      const path = realTarget(given);
      const { withFileLock } = await import("../../platform/file-lock.ts");
      return withFileLock({ folder: lockFolder(), path, signal }, () => work(path));
    });
  } catch (error) {
    if (error instanceof FileProblem) return errorResult(error.message);
    throw error;
  }
}
