import type { CommandType } from "../session/command.ts";
import { bashRows } from "./bash.ts";
import { behaviourRows } from "./behaviour.ts";
import type { CommandRows } from "./command-row.ts";
import { lookRows } from "./look.ts";
import { modelRows } from "./model.ts";
import { protocolRows } from "./protocol.ts";
import { sessionRows } from "./sessions.ts";
import { talkRows } from "./talk.ts";

/**
 * Everything that can be asked of a session. A new command is its fields and its data in `session/command.ts`, a row
 * in the file of its subject, and a test; what is forgotten does not compile.
 */
export const COMMANDS: CommandRows<CommandType> = {
  ...talkRows,
  ...lookRows,
  ...modelRows,
  ...behaviourRows,
  ...bashRows,
  ...sessionRows,
  ...protocolRows,
};
