import type { CommandData, CommandOf, CommandType } from "../session/command.ts";
import type { SessionCore } from "../session/session-core.ts";
import { SessionError } from "../session/session-error.ts";
import type { CommandContext, CommandRow } from "./command-row.ts";
import { readFields } from "./fields.ts";
import { COMMANDS } from "./table.ts";

/** The row of a command that came from outside. @throws SessionError for a name that no command has */
export function findCommand(name: string): CommandRow<CommandType> {
  if (!isCommand(name)) throw new SessionError("unknown_command", name);
  return COMMANDS[name];
}

/**
 * Checks the fields of a command and runs it. Gives its data, or a promise of them.
 * @throws SessionError that names the first field that is wrong, or says why the command is refused
 */
export function startCommand<T extends CommandType>(
  row: CommandRow<T>,
  context: CommandContext,
  record: Readonly<Record<string, unknown>>,
): CommandData[T] | Promise<CommandData[T]> {
  return row.run(context, readFields(record, row.fields));
}

/** Runs a command on one session. Rejects with a SessionError when it is refused. */
export async function runCommand<T extends CommandType>(
  session: SessionCore,
  command: CommandOf<T>,
): Promise<CommandData[T]> {
  // A program without types may give a name that no command has.
  findCommand(command.type);
  return startCommand(COMMANDS[command.type], { session, id: command.id }, { ...command });
}

function isCommand(name: string): name is CommandType {
  return Object.hasOwn(COMMANDS, name);
}
