import type { Context, Model, StreamFn, StreamOptions, SystemMessage, Tool } from "@tau/llm";
import { declaration, EMPTY_HEAD, foldHead, promptText } from "@tau/llm/head";
import type { PhaseTracker } from "../events/phase.ts";
import type { HostEvent } from "../events/session-event.ts";
import type { SessionSettings } from "../options.ts";
import type { BudgetKeeper } from "./budget.ts";

interface ModelRequestsParts {
  readonly settings: SessionSettings;
  readonly budget: BudgetKeeper;
  readonly phase: PhaseTracker;
  readonly streamFn: StreamFn;
  readonly tell: (event: HostEvent) => void;
  readonly getApiKey: ((model: Model) => string | undefined | Promise<string | undefined>) | undefined;
}

/** All requests of a session to its models, each with a fresh key and the session's network settings. */
export class ModelRequests {
  readonly #parts: ModelRequestsParts;
  /** What providers have said of their requests so far. */
  readonly #warned = new Set<string>();

  constructor(parts: ModelRequestsParts) {
    this.#parts = parts;
  }

  /** A request of the run: it counts as a turn. */
  readonly ofRun: StreamFn = (model, context, options) =>
    this.#send(model, liftHead(context), {
      options,
      begin: () => {
        this.#parts.phase.signal("request");
        this.#parts.budget.request();
      },
    });

  /** A request beside the run, such as for a summary. */
  readonly beside: StreamFn = (model, context, options) =>
    this.#send(model, context, { options, begin: () => undefined });

  #send(model: Model, context: Context, { options, begin }: { options: StreamOptions; begin: () => void }) {
    const { getApiKey, settings, streamFn } = this.#parts;
    const { timeouts, network } = settings;
    const onWarning = (text: string) => this.#warnOnce(text);
    const all = { ...options, onWarning, ...(timeouts && { timeouts }), ...(network && { network }) };
    const send = (apiKey: string | undefined): ReturnType<StreamFn> => {
      // A key that came after the abort makes no request (law R9).
      if (options.signal?.aborted) throw new Error("The run was aborted.");
      begin();
      return streamFn(model, context, apiKey === undefined ? all : { ...all, apiKey });
    };
    const apiKey = getApiKey?.(model);
    return apiKey instanceof Promise ? apiKey.then(send) : send(apiKey);
  }

  /** What could not be sent as it is, or was sent otherwise than before, is said once a session (report R210). */
  #warnOnce(message: string): void {
    if (this.#warned.has(message)) return;
    this.#warned.add(message);
    this.#parts.tell({ type: "warning", message });
  }
}

interface Lifted {
  readonly systemPrompt?: string;
  readonly tools?: Tool[];
}

// The head of a session is lifted once, not for every request.
const lifted = new WeakMap<SystemMessage, Lifted>();

/**
 * A context that begins with its only system message, with that message as `systemPrompt` and `tools`: the plain form
 * that every `streamFn` knows. Later changes of the head need the messages themselves, so then it stays as it is.
 */
function liftHead(context: Context): Context {
  const first = context.messages[0];
  if (first?.role !== "system") return context;
  const messages = context.messages.slice(1);
  if (messages.some(({ role }) => role === "system")) return context;
  return { ...context, ...liftedOf(first), messages };
}

function liftedOf(message: SystemMessage): Lifted {
  const known = lifted.get(message);
  if (known) return known;
  const head = foldHead(EMPTY_HEAD, message);
  const systemPrompt = promptText(head);
  const made: Lifted = {
    ...(systemPrompt !== "" && { systemPrompt }),
    ...(head.tools.size > 0 && { tools: [...head.tools.values()].map(declaration) }),
  };
  lifted.set(message, made);
  return made;
}
