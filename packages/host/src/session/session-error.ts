export type SessionErrorCode =
  | "busy"
  | "disposed"
  | "empty_prompt"
  | "unknown_model"
  | "no_compactor"
  | "in_listener"
  | "no_user_commands"
  | "nothing_to_continue";

const TEXTS: Readonly<Record<SessionErrorCode, string>> = {
  busy: "A run or a compaction is going on. Use steer or followUp, give streamingBehavior, or abort it first.",
  disposed: "The session is closed. Open it again with createAgentSession.",
  empty_prompt: "The prompt is empty. Give a text, an image or a message.",
  unknown_model: "There is no such model. List the models and choose one of them.",
  no_compactor: "This session cannot compact: it was made without a compactor.",
  no_user_commands: "This session runs no commands of the user: it was made without a runner for them.",
  nothing_to_continue: "There is nothing to continue: the last message is an answer. Give a prompt.",
  in_listener: "This would wait for the run inside one of its listeners. Wait outside, or listen for agent_settled.",
};

/** A call that the session refuses; nothing was changed. */
export class SessionError extends Error {
  override readonly name = "SessionError";
  readonly code: SessionErrorCode;

  /** @param detail put before the remedy, e.g. the name that was not found */
  constructor(code: SessionErrorCode, detail?: string) {
    super(detail === undefined ? TEXTS[code] : `${detail}: ${TEXTS[code]}`);
    this.code = code;
  }
}
