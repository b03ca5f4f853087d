import type { ToolEnvironment } from "./definition.ts";

/** How a command of the user ended. */
export interface UserCommandResult {
  /** Stdout and stderr, cleaned and cut to what a model can read. */
  output: string;
  /** As a shell tells it; absent when the command was cancelled. */
  exitCode?: number;
  cancelled: boolean;
  /** `output` leaves something out. */
  truncated: boolean;
  /** A file with the whole output, when it was cut. */
  fullOutputPath?: string;
}

export interface UserCommandIo {
  readonly signal: AbortSignal;
  /** Gets the output as it comes. A promise that it gives back is waited for before the next piece. */
  onOutput(text: string): void | Promise<void>;
}

/** Runs a shell command of the user. Rejects when it could not be started. */
export type UserCommandRunner = (command: string, io: UserCommandIo) => Promise<UserCommandResult>;

/** Runs commands where and as the bash tool does, without a time-out: the user ends what he started. */
export function createUserCommandRunner(environment: ToolEnvironment): UserCommandRunner {
  return async (command, io) => {
    const { runUserCommand } = await import("./bash/run-user-command.ts");
    return runUserCommand(environment, command, io);
  };
}
