/** Why a session refuses a call, each with what its text needs: a name, or words of the caller's. */
const TEXTS = {
  busy: () => "A run or a compaction is in progress. Use steer or followUp, give streamingBehavior, or abort it first.",
  disposed: () => "The session is closed. Open it again with createAgentSession.",
  empty_prompt: () => "The prompt is empty. Give a text, an image or a message.",
  empty_name: () => "The session name is empty. Give one with at least one character.",
  unknown_model: (name) => `${name}: There is no such model. List the models and choose one of them.`,
  unknown_command: (name) => `Unknown command: ${name}`,
  unknown_entry: (id) => `There is no entry ${id} in this session; get_entries lists those that there are.`,
  not_a_user_message: (id) => `There is no user message ${id} to fork from.`,
  nothing_to_clone: () => "There is nothing to clone: nothing was said in this session yet. Send a prompt first.",
  invalid_field: (what) => what,
  no_question: (id) => `There is no open permission request ${id}; it was answered, or its run has ended.`,
  no_compactor: () => "This session cannot compact: it was made with no compactor. Give createAgentSession one.",
  not_compacted: (reason) => `The session was not compacted: ${reason}.`,
  no_user_commands: () => "This session runs no commands of the user: it was made without a runner for them.",
  nothing_to_continue: () => "There is nothing to continue: the last message is an answer. Give a prompt.",
  in_listener: () =>
    "This would wait for the run inside one of its listeners. Wait outside, or listen for agent_settled.",
  unavailable: (what) => `${what} is not available here: the program that runs this session does not provide it.`,
} satisfies Readonly<Record<string, (detail: string) => string>>;

export type SessionErrorCode = keyof typeof TEXTS;

/** A call that the session refuses; nothing was changed. */
export class SessionError extends Error {
  override readonly name = "SessionError";
  readonly code: SessionErrorCode;
  /** The name, id or words that the text is about. */
  readonly detail: string | undefined;

  constructor(code: SessionErrorCode, detail?: string) {
    const text: (detail: string) => string = TEXTS[code];
    super(text(detail ?? ""));
    this.code = code;
    this.detail = detail;
  }
}
