import type { AssistantMessage } from "@tau/llm";
import type { Notice } from "../run/failure.ts";

/** Below this a wrong estimate says nothing. */
const MIN_TOKENS = 8000;
/** Estimates are off by a factor of two at most; a server that reads less than this share has cut the prompt. */
const MIN_SHARE = 0.4;
/** No server works with a smaller window: fewer tokens are those that its cache did not have. */
const SMALLEST_WINDOW = 1500;

/** Notices a server that drops the front of the prompt without a word (report R042). Says so once. */
export class UsageWatch {
  #said = false;
  /** Tokens of the context that each model answered last, as estimated. */
  readonly #sentBefore = new Map<string, number>();

  /**
   * @param sent tokens of the context that the reply answers, as estimated
   * @returns what to say, when there is something
   */
  check(reply: AssistantMessage, sent: number): Notice | undefined {
    const { input, cacheRead, cacheWrite } = reply.usage;
    const model = `${reply.provider}/${reply.model}`;
    const read = input + cacheRead + cacheWrite;
    const before = this.#sentBefore.get(model);
    if (read > 0) this.#sentBefore.set(model, sent);
    if (this.#said || read < SMALLEST_WINDOW || sent < MIN_TOKENS || read >= sent * MIN_SHARE) return undefined;
    if (before !== undefined && isIncrement(read, sent - before)) return undefined;
    this.#said = true;
    return { code: "prompt_cut", params: { model, read, sent: Math.round(sent) } };
  }
}

/** A server that counts only what its cache did not have reports about what is new since the request before (R209). */
function isIncrement(read: number, added: number): boolean {
  return read >= added * MIN_SHARE && read <= added / MIN_SHARE;
}
