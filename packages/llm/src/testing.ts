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
