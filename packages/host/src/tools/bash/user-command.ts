import type { ToolEnvironment } from "../definition.ts";
import type { UserCommandIo, UserCommandResult } from "./user-command-io.ts";

/** Runs a shell command of the user. Rejects when it could not be started. */
export type UserCommandRunner = (command: string, io: UserCommandIo) => Promise<UserCommandResult>;

/** Runs commands where and as the bash tool does, without a time-out: the user ends what he started. */
export function createUserCommandRunner(environment: ToolEnvironment): UserCommandRunner {
  return async (command, io) => {
    const { runUserCommand } = await import("./run-user-command.ts");
    return runUserCommand(environment, command, io);
  };
}
