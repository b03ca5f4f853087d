import type { HostEvent } from "../events/session-event.ts";
import type { PermissionAnswer, PermissionRequest } from "./permission.ts";

/** An open question, as a front end sees it and as a snapshot keeps it. */
export interface OpenQuestion {
  readonly id: string;
  readonly toolCallId: string;
  readonly toolName: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly reason: string;
}

interface Pending {
  readonly question: OpenQuestion;
  readonly answer: (answer: PermissionAnswer) => void;
}

/** The questions that wait for an answer (law P3). Several may be open at once; each holds up its own call only. */
export class Questions {
  readonly #open = new Map<string, Pending>();
  readonly #emit: (event: HostEvent) => void;
  #count = 0;

  constructor(emit: (event: HostEvent) => void) {
    this.#emit = emit;
  }

  get open(): OpenQuestion[] {
    return [...this.#open.values()].map(({ question }) => question);
  }

  /** Resolves with the answer, or with a denial when the signal fires first. */
  ask(request: PermissionRequest, reason: string, signal: AbortSignal): Promise<PermissionAnswer> {
    const { toolCallId, toolName, args } = request;
    const question: OpenQuestion = { id: `permission_${++this.#count}`, toolCallId, toolName, args, reason };
    return new Promise((resolve) => {
      const cancel = () => this.respond(question.id, { decision: "deny", reason: "The run was aborted." });
      const answer = (given: PermissionAnswer) => {
        signal.removeEventListener("abort", cancel);
        resolve(given);
      };
      this.#open.set(question.id, { question, answer });
      this.#emit({ type: "permission_request", ...question, args: { ...args } });
      if (signal.aborted) cancel();
      else signal.addEventListener("abort", cancel, { once: true });
    });
  }

  /** False when there is no such open question: an answer that came too late is ignored (report R180). */
  respond(id: string, answer: PermissionAnswer): boolean {
    const pending = this.#open.get(id);
    if (!pending) return false;
    this.#open.delete(id);
    // The type comes last: an answer that came as a command has one of its own.
    this.#emit({ ...answer, id, type: "permission_resolved" });
    pending.answer(answer);
    return true;
  }
}
