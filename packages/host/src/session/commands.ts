import type { AgentSession } from "./agent-session.ts";
import type { CommandFields, CommandOf, CommandType } from "./command.ts";
import { leavingOf } from "./context/navigation.ts";

/** What a command gives back, as RPC answers it. */
export type CommandResult = unknown;

type Handlers = {
  [T in CommandType]: (session: AgentSession, command: CommandOf<T>) => CommandResult | Promise<CommandResult>;
};

/**
 * One row a command. A row returns when the command is accepted, not when its run is over: that is `agent_settled`.
 * A refusal rejects.
 */
const HANDLERS: Handlers = {
  prompt: (session, { message, images, streamingBehavior }) =>
    session.accept(message, { ...(images && { images }), ...(streamingBehavior && { streamingBehavior }) }),
  continue: (session) => session.acceptContinue(),
  steer: (session, { message, images }) => session.steer(message, images),
  follow_up: (session, { message, images }) => session.followUp(message, images),
  interrupt: (session, { message, images }) => session.interrupt(message, images),
  abort: (session) => session.abort(),
  clear_queue: (session) => session.takeQueued(),
  set_model: (session, { provider, modelId }) => session.chooseModel(provider, modelId),
  set_thinking_level: (session, { level }) => session.setThinkingLevel(level),
  set_steering_mode: (session, { mode }) => session.setQueueMode("steering", mode),
  set_follow_up_mode: (session, { mode }) => session.setQueueMode("followUp", mode),
  set_auto_retry: (session, { enabled }) => session.setAutoRetry(enabled),
  set_auto_compaction: (session, { enabled }) => session.setAutoCompaction(enabled),
  abort_retry: (session) => session.abortRetry(),
  compact: (session, { customInstructions }) => session.compact(customInstructions),
  set_session_name: (session, { name }) => session.setName(name),
  navigate: (session, { entryId, ...left }) => session.navigate(entryId, leavingOf(left)),
  respond_permission: (session, { id, ...answer }) => session.respondPermission(id, answer),
};

/** Runs one command on a session. */
export async function runCommand<T extends CommandType>(
  session: AgentSession,
  command: { type: T } & CommandFields[T],
): Promise<CommandResult> {
  return HANDLERS[command.type](session, command);
}

/** All commands, for a protocol that lists or checks them. */
export const COMMAND_TYPES: readonly string[] = Object.keys(HANDLERS);
