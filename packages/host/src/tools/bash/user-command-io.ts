/** How a command of the user ended. */
export interface UserCommandResult {
  /** Stdout and stderr, cleaned and cut to what a model can read. */
  output: string;
  /** As a shell reports it; absent when the command was cancelled. */
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
