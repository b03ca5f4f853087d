import type { Model } from "@tau/llm";
import type { CommandData, CommandFields, CommandType } from "../session/command.ts";
import type { SessionCore } from "../session/session-core.ts";
import { SessionError } from "../session/session-error.ts";
import type { SessionHost } from "../session/session-host.ts";
import type { SessionStore } from "../store/session-store.ts";
import type { FieldChecks } from "./fields.ts";

/** What a program offers beside its session. */
export interface CommandServices {
  /** Version of the program, for `hello`. */
  readonly version: string;
  /** Models that could be asked now. */
  availableModels(): Promise<Model[]>;
  /** Writes a session as a page; absent: `export_html` is refused. Gives the path of the page. */
  exportHtml?(store: SessionStore, outputPath: string | undefined): Promise<string>;
}

/** Where a command runs. */
export interface CommandContext {
  readonly session: SessionCore;
  /** The `id` of the command, for what goes with it. */
  readonly id?: string | number | undefined;
  /** Absent for a caller that has one session only. */
  readonly sessions?: SessionHost;
  /** Absent for a caller that is not a whole program. */
  readonly services?: CommandServices;
}

/** One command: what it carries, what it does, and how it is described. */
export interface CommandRow<T extends CommandType> {
  readonly fields: FieldChecks<CommandFields[T]>;
  /** One line for people. */
  readonly describe: string;
  /** The shape of its data, for docs; absent: it has none. */
  readonly answer?: string;
  /** Not in pi's protocol. */
  readonly tauOnly?: true;
  /** Puts another session in the place of this one: the next command waits for it. */
  readonly replaces?: true;
  /** Without a promise it is done at once, before the events that it causes. @throws SessionError when refused */
  run(context: CommandContext, fields: CommandFields[T]): CommandData[T] | Promise<CommandData[T]>;
}

/** A part of the table. */
export type CommandRows<T extends CommandType> = { readonly [Each in T]: CommandRow<Each> };

/** The sessions of the program. @throws SessionError for a caller that has only one */
export function sessionsOf({ sessions }: CommandContext, what: string): SessionHost {
  if (!sessions) throw new SessionError("unavailable", what);
  return sessions;
}

/** What the program offers. @throws SessionError for a caller that offers nothing */
export function servicesOf({ services }: CommandContext, what: string): CommandServices {
  if (!services) throw new SessionError("unavailable", what);
  return services;
}
