import type { AgentSession } from "../session/agent-session.ts";
import { ConfigError } from "../settings/config-error.ts";
import { type CreateAgentSessionOptions, checkOptions } from "./sdk-options.ts";

/**
 * Makes a session. It needs `cwd` and `model`; without more it has the built-in tools, tau's prompt, a compactor and a
 * store in memory. A store with a history is resumed: messages, queued messages, and calls that were open when it was
 * left. Without a `streamFn` requests go to the providers of `@tau/llm`.
 *
 * @throws ConfigError for a folder that does not exist and a model that is not known, UnknownToolError for such a tool;
 * the latter two name what is near
 */
export async function createAgentSession(options: CreateAgentSessionOptions): Promise<AgentSession> {
  try {
    checkOptions(options);
    const { assembleForProgram } = await import("./program-session.ts");
    return await assembleForProgram(options);
  } catch (error) {
    throw error instanceof ConfigError ? error.forProgram() : error;
  }
}
