import type { Model, ThinkingLevel } from "@tau/llm";
import type { EntryDraft } from "../../store/entries.ts";
import type { HostEvent } from "../events/session-event.ts";
import type { Notice } from "../run/failure.ts";

interface ModelChoiceParts {
  readonly model: Model;
  readonly level: ThinkingLevel;
  readonly fallbackModels: readonly Model[];
  readonly append: (draft: EntryDraft) => void;
  readonly emit: (event: HostEvent) => void;
  readonly say: (notice: Notice) => void;
  /** Tokens in the context now. */
  readonly tokens: () => number;
}

/** The model and the thinking level in use. A change is on disk before it is shown (laws L5, F2). */
export class ModelChoice {
  readonly #parts: ModelChoiceParts;
  readonly #tried = new Set<string>();
  #model: Model;
  #level: ThinkingLevel;
  /** Before the first request a choice is not worth an entry yet. */
  #recorded: { model?: string; level?: string } | undefined;

  constructor(parts: ModelChoiceParts) {
    this.#parts = parts;
    this.#model = parts.model;
    this.#level = parts.level;
  }

  get model(): Model {
    return this.#model;
  }

  get level(): ThinkingLevel {
    return this.#level;
  }

  /**
   * From now on choices are written; those that differ from what the file says at once.
   * @param inFile what holds at the leaf
   */
  open(inFile: { model?: { provider: string; modelId: string }; thinkingLevel?: string }): void {
    const { model, thinkingLevel } = inFile;
    this.#recorded = {
      ...(model && { model: `${model.provider}/${model.modelId}` }),
      ...(thinkingLevel !== undefined && { level: thinkingLevel }),
    };
    this.#record();
  }

  setModel(model: Model): void {
    const changed = modelName(model) !== modelName(this.#model);
    this.#model = model;
    this.#record();
    if (!changed) return;
    this.#parts.emit({ type: "model_changed", provider: model.provider, modelId: model.id });
    const tokens = this.#parts.tokens();
    if (tokens <= model.contextWindow) return;
    const { contextWindow } = model;
    this.#parts.say({ code: "context_too_large", params: { tokens, contextWindow, model: modelName(model) } });
  }

  /** Takes over what holds at another point of the tree, where the file says so already (report R111). */
  adopt(model: Model, level: ThinkingLevel): void {
    const changed = modelName(model) !== modelName(this.#model);
    this.#model = model;
    this.#level = level;
    if (this.#recorded) this.#recorded = { model: modelName(model), level };
    if (changed) this.#parts.emit({ type: "model_changed", provider: model.provider, modelId: model.id });
  }

  setLevel(level: ThinkingLevel): void {
    const changed = level !== this.#level;
    this.#level = level;
    this.#record();
    if (changed) this.#parts.emit({ type: "thinking_level_changed", level });
  }

  /** A new prompt may try every fallback model again. */
  beginChain(): void {
    this.#tried.clear();
  }

  hasFallback(): boolean {
    return this.#nextFallback() !== undefined;
  }

  /** Goes over to the next fallback model (law E3). */
  fallBack(reason: string): void {
    const next = this.#nextFallback();
    if (!next) return;
    this.#tried.add(modelName(this.#model)).add(modelName(next));
    this.#parts.emit({ type: "model_fallback", from: modelName(this.#model), to: modelName(next), reason });
    this.setModel(next);
  }

  #nextFallback(): Model | undefined {
    const current = modelName(this.#model);
    return this.#parts.fallbackModels.find(
      (model) => modelName(model) !== current && !this.#tried.has(modelName(model)),
    );
  }

  #record(): void {
    if (!this.#recorded) return;
    const model = modelName(this.#model);
    if (this.#recorded.model !== model) {
      this.#parts.append({ type: "model_change", provider: this.#model.provider, modelId: this.#model.id });
    }
    if (this.#recorded.level !== this.#level) {
      this.#parts.append({ type: "thinking_level_change", thinkingLevel: this.#level });
    }
    this.#recorded = { model, level: this.#level };
  }
}

/** `provider/id`, as users write it. */
function modelName({ provider, id }: Model): string {
  return `${provider}/${id}`;
}
