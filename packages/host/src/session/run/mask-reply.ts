import type { AssistantMessage } from "@tau/llm";
import type { MaskSecrets } from "../../platform/secret-mask.ts";

/**
 * Masks the agent's own keys in what a model says, before it is on disk and sent again (report R143): in place, since the
 * run and the state hold this very message, so that the next request has what the file has (law O3). Calls stay as they
 * are, since a masked argument would do something else, and so does signed thinking, which its provider checks.
 */
export function maskReply(message: AssistantMessage, mask: MaskSecrets): void {
  const content = message.content.map((block) =>
    block.type === "text" || (block.type === "thinking" && block.thinkingSignature === undefined) ? mask(block) : block,
  );
  // A new list: events of the stream may hold the old one.
  if (content.some((block, index) => block !== message.content[index])) message.content = content;
}
