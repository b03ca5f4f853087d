import type { Model } from "@tau/llm";
import type { AgentSession } from "../session/agent-session.ts";
import type { SessionHost } from "../session/session-host.ts";
import type { SessionStore } from "../store/session-store.ts";
import type { FieldChecks } from "./fields.ts";
import type { Outbox, RawJson } from "./outbox.ts";
import type { RpcCommandType, RpcData, RpcFields } from "./protocol.ts";

/** What a server needs besides the session. */
export interface RpcServices {
  /** Version of the program, for `hello`. */
  readonly version: string;
  /** Models that could be asked now. */
  availableModels(): Promise<Model[]>;
  /** Writes a session as a page; absent: `export_html` is refused. Gives the path of the page. */
  exportHtml?(store: SessionStore, outputPath: string | undefined): Promise<string>;
}

/** Where a command runs. */
export interface RpcContext {
  readonly sessions: SessionHost;
  readonly services: RpcServices;
  readonly outbox: Outbox;
  /** Of the command, for records that go with it. */
  readonly id: string | number | undefined;
  /** The current session when the command came. */
  readonly session: AgentSession;
}

/** One command: what it carries and what it does. What it throws is the text of its error response. */
export interface RpcMethod<T extends RpcCommandType> {
  readonly fields: FieldChecks<RpcFields[T]>;
  /** Puts another session in the place of this one: the next command waits for it. */
  readonly replaces?: true;
  /** Without a promise: the response is written before the events that the command caused. */
  run(context: RpcContext, fields: RpcFields[T]): RpcData[T] | RawJson | Promise<RpcData[T] | RawJson>;
}

/** A part of the table. */
export type RpcMethods<T extends RpcCommandType> = { readonly [Each in T]: RpcMethod<Each> };
