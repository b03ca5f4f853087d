// Public fakes of @tau/llm, listed by hand: a model and a server that play scripts.
export {
  failure,
  reply,
  type ScriptBlock,
  type ScriptFault,
  type ScriptReply,
  type ScriptToolCall,
  text,
  thinking,
  toolCall,
} from "./scripted/reply.ts";
export {
  createScript,
  type Script,
  type ScriptCall,
  type ScriptFunction,
  type ScriptOptions,
  type ScriptStep,
  scriptedModel,
} from "./scripted/script.ts";
export { checkAnthropicRequest } from "./scripted/strict-anthropic.ts";
export type { Json, StrictRules } from "./scripted/strict-checker.ts";
export { checkOpenAIRequest } from "./scripted/strict-openai.ts";
export { checkResponsesRequest } from "./scripted/strict-responses.ts";
export type { WireFault, WireQuirks, WireReply } from "./scripted/wire-reply.ts";
export {
  type WireApi,
  type WireRequest,
  type WireServer,
  type WireServerOptions,
  type WireStepFunction,
  wireServer,
} from "./scripted/wire-server.ts";
