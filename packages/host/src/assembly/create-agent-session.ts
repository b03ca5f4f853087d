import { stream } from "@tau/llm";
import { AgentSession } from "../session/agent-session.ts";
import { type CreateAgentSessionOptions, checkOptions, isComplete } from "./sdk-options.ts";

/**
 * Makes a session. It needs `cwd` and `model`; without more it has the built-in tools and a store in memory. A store
 * with a history is resumed: messages, queued messages, and calls that were open when it was left. Without a
 * `streamFn` requests go to the providers of `@tau/llm`.
 *
 * @throws ConfigError for a model name that is not known, UnknownToolError for a tool name
 */
export async function createAgentSession(options: CreateAgentSessionOptions): Promise<AgentSession> {
  checkOptions(options);
  const complete = isComplete(options) ? options : await (await import("./sdk-defaults.ts")).withDefaults(options);
  return new AgentSession(complete, complete.streamFn ?? stream);
}
