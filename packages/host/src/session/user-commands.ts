import type { BashExecutionMessage } from "@tau/agent";
import type { MaskSecrets } from "../platform/secret-mask.ts";
import type { UserCommandRunner } from "../tools/bash/user-command.ts";
import type { UserCommandIo, UserCommandResult } from "../tools/bash/user-command-io.ts";
import { SessionError } from "./session-error.ts";

export interface UserCommandOptions {
  /** The model does not see it. */
  readonly excludeFromContext?: boolean;
  readonly onOutput?: UserCommandIo["onOutput"];
}

interface UserCommandParts {
  readonly runner: UserCommandRunner | undefined;
  /** Puts the result into the transcript, for the next prompt. */
  readonly add: (message: BashExecutionMessage) => void;
  readonly mask: MaskSecrets;
  readonly now: () => number;
}

/** Commands that the user runs himself; the model reads of them with the next prompt. */
export class UserCommands {
  readonly #parts: UserCommandParts;
  readonly #running = new Map<AbortController, Promise<unknown>>();

  constructor(parts: UserCommandParts) {
    this.#parts = parts;
  }

  /** Resolves when the command has ended. Rejects when it could not be started. */
  run(command: string, options: UserCommandOptions = {}): Promise<UserCommandResult> {
    const controller = new AbortController();
    const run = this.#run(command, options, controller.signal).finally(() => this.#running.delete(controller));
    // Whoever asked for the command hears of a failure; `abort` only waits.
    const ended = run.catch(() => undefined);
    this.#running.set(controller, ended);
    return run;
  }

  /** Ends all that run; resolves when they have ended and what they printed is noted. */
  async abort(): Promise<void> {
    const running = [...this.#running];
    for (const [controller] of running) controller.abort();
    await Promise.all(running.map(([, ended]) => ended));
  }

  async #run(command: string, options: UserCommandOptions, signal: AbortSignal): Promise<UserCommandResult> {
    const { runner, add, mask, now } = this.#parts;
    if (!runner) throw new SessionError("no_user_commands");
    const { excludeFromContext = false, onOutput = () => undefined } = options;
    const found = await runner(command, { signal, onOutput: (text) => onOutput(mask(text)) });
    const result = { ...found, output: mask(found.output) };
    const hidden = excludeFromContext && { excludeFromContext };
    add({ role: "bashExecution", command, ...result, ...hidden, timestamp: now() });
    return result;
  }
}
