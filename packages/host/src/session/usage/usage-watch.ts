import type { AssistantMessage } from "@tau/llm";
import type { Notice } from "../run/failure.ts";

/** Below this a wrong estimate says nothing. */
const MIN_TOKENS = 8000;
/** Estimates are off by a factor of two at most; a server that reads less than this share has cut the prompt. */
const MIN_SHARE = 0.4;

/** Notices a server that drops the front of the prompt without a word (report R042). Says so once. */
export class UsageWatch {
  #said = false;

  /**
   * @param sent tokens of the context that the reply answers, as estimated
   * @returns what to say, when there is something
   */
  check(reply: AssistantMessage, sent: number): Notice | undefined {
    const { input, cacheRead, cacheWrite } = reply.usage;
    const read = input + cacheRead + cacheWrite;
    if (this.#said || !(read > 0) || sent < MIN_TOKENS || read >= sent * MIN_SHARE) return undefined;
    this.#said = true;
    return { code: "prompt_cut", params: { model: `${reply.provider}/${reply.model}`, read, sent: Math.round(sent) } };
  }
}
