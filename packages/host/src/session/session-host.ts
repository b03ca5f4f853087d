import { resolve } from "node:path";
import type { Model, ThinkingLevel } from "@tau/llm";
import { realPathOf } from "../platform/home.ts";
import { forkSession } from "../store/fork-session.ts";
import { userText } from "../store/navigate.ts";
import { createMemoryStore, createSessionStore, openSessionStore } from "../store/open-session.ts";
import type { SessionStore } from "../store/session-store.ts";
import type { AgentSession } from "./agent-session.ts";
import type { SessionEvent } from "./events/session-event.ts";
import { SessionError } from "./session-error.ts";

/** A prompt template or skill that the user calls by `/name`. */
export interface PromptCommand {
  readonly name: string;
  readonly description: string;
  readonly source: "prompt" | "skill" | "extension";
  readonly path: string;
  readonly scope: "user" | "project" | "temporary";
}

/** A session with what its folder gives to a front end. */
export interface OpenedSession {
  readonly session: AgentSession;
  readonly store: SessionStore;
  /** One line each, for the user. */
  readonly warnings: readonly string[];
  readonly commands: readonly PromptCommand[];
  /** The text that is sent for what the user typed: templates and skills are filled in. */
  expand(text: string): string;
}

/** The choice that a session starts with when its file names none. */
export interface ModelInUse {
  readonly model: Model;
  readonly thinkingLevel: ThinkingLevel;
}

export interface SessionHostOptions {
  /** Makes a session on an open store, from the settings that the first one was made from. */
  open(store: SessionStore, inUse: ModelInUse): Promise<OpenedSession>;
  /** Where new sessions are kept; absent: in memory. */
  readonly sessionsDir?: string;
}

/** How a store for the next session is made. */
interface Order {
  make(): SessionStore;
  /** It is a copy of the current session, which has to be settled first. */
  readonly copies: boolean;
}

/**
 * Holds the one session of a front end and puts another one in its place. The session that is left is settled and
 * closed first; listeners go over to the new one and hear nothing more of the old.
 */
export class SessionHost {
  readonly #options: SessionHostOptions;
  readonly #listeners = new Map<(event: SessionEvent) => void | Promise<void>, () => void>();
  #current: OpenedSession;
  #attended = false;
  #replacing: Promise<unknown> = Promise.resolve();

  constructor(first: OpenedSession, options: SessionHostOptions) {
    this.#current = first;
    this.#options = options;
  }

  get current(): OpenedSession {
    return this.#current;
  }

  /** Gets the events of whatever session is the current one. Returns the way out. */
  subscribe(listener: (event: SessionEvent) => void | Promise<void>): () => void {
    this.#listeners.set(listener, this.#current.session.subscribe(listener));
    return () => {
      this.#listeners.get(listener)?.();
      this.#listeners.delete(listener);
    };
  }

  /** Whether somebody answers permission requests, in this session and those that follow. */
  setAttended(attended: boolean): void {
    this.#attended = attended;
    this.#current.session.configure({ attended });
  }

  /** Begins a new session in the same folder. */
  newSession(parentSession?: string): Promise<void> {
    const { sessionsDir } = this.#options;
    const { cwd } = this.#current.session.state;
    const start = { cwd, ...(parentSession !== undefined && { parentSession }) };
    const make = () =>
      sessionsDir === undefined ? createMemoryStore(start) : createSessionStore({ ...start, sessionsDir });
    return this.#exclusively(() => this.#replace({ make, copies: false }));
  }

  /** Continues with the session of a file. Rejects, and changes nothing, when it cannot be opened or has a writer. */
  switchTo(path: string): Promise<void> {
    return this.#exclusively(() => {
      const file = resolve(this.#current.session.state.cwd, path);
      if (isSameFile(file, this.#current.store.path)) return this.#settle();
      return this.#replace({ make: () => openSessionStore(file), copies: false });
    });
  }

  /**
   * Continues in a copy that ends before a user message.
   * @returns the text of that message, to be edited and sent again
   */
  fork(entryId: string): Promise<string> {
    return this.#exclusively(async () => {
      const { store } = this.#current;
      const entry = store.entry(entryId);
      const text = entry && userText(entry);
      if (!entry || text === undefined) throw new SessionError("not_a_user_message", entryId);
      await this.#replace({ make: () => this.#copy({ entryId: entry.parentId }), copies: true });
      return text;
    });
  }

  /** Continues in a copy of the current branch. */
  clone(): Promise<void> {
    return this.#exclusively(() => {
      if (!this.#current.store.branch().some(({ type }) => type === "message"))
        throw new SessionError("nothing_to_clone");
      return this.#replace({ make: () => this.#copy({ write: "now" }), copies: true });
    });
  }

  /** Settles and closes the current session. */
  async dispose(): Promise<void> {
    await this.#replacing;
    await this.#current.session.dispose();
  }

  #copy(how: { entryId?: string | null; write?: "now" }): SessionStore {
    const { sessionsDir } = this.#options;
    const { store, session } = this.#current;
    return forkSession({
      from: store,
      cwd: session.state.cwd,
      ...(sessionsDir !== undefined && { sessionsDir }),
      ...how,
    });
  }

  /** One replacement after the other. */
  #exclusively<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#replacing.then(work);
    this.#replacing = done.catch(() => undefined);
    return done;
  }

  async #settle(): Promise<void> {
    const { session } = this.#current;
    await Promise.all([session.abort("The session is left."), session.dispatch({ type: "abort_bash" })]);
  }

  /** Until the new session stands the old one is only settled: it continues when the new one cannot be made. */
  async #replace({ make, copies }: Order): Promise<void> {
    const early = copies ? undefined : make();
    await this.#settle();
    const next = await this.#open(early ?? make());
    // What was queued after the stop has begun a run: it is settled, too, before anybody looks away.
    await this.#current.session.dispose();
    this.#current = next;
    next.session.configure({ attended: this.#attended });
    for (const [listener, leave] of [...this.#listeners]) {
      leave();
      this.#listeners.set(listener, next.session.subscribe(listener));
    }
  }

  async #open(store: SessionStore): Promise<OpenedSession> {
    const { model, thinkingLevel } = this.#current.session.state;
    try {
      return await this.#options.open(store, { model, thinkingLevel });
    } catch (error) {
      store.close();
      throw error;
    }
  }
}

function isSameFile(path: string, other: string | undefined): boolean {
  if (other === undefined) return false;
  return path === other || (realPathOf(path) ?? path) === realPathOf(other);
}
