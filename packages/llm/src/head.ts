// The public names of @tau/llm/head, listed by hand.

export { declaration, headChange, headMessage } from "./head/change.ts";
export {
  contentText,
  EMPTY_HEAD,
  foldHead,
  type Head,
  headOf,
  PROMPT_SECTION,
  type PromptSections,
  promptText,
  replayHead,
} from "./head/fold.ts";
