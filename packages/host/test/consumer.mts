// A program of somebody else: compiled by public-door.test.ts, never run.
import { Agent } from "@tau/agent";
import { type CreateAgentSessionOptions, createAgentSession, type RunOutcome, type SessionEvent } from "@tau/host";
import { stream } from "@tau/llm";

const options: CreateAgentSessionOptions = { cwd: "/", model: "a/b", settings: { retry: { maxRetries: 5 } } };

export async function ask(text: string, see: (event: SessionEvent) => void): Promise<RunOutcome> {
  const session = await createAgentSession(options);
  session.subscribe((event) => see(event));
  const outcome = await session.prompt(text);
  await session.dispose();
  return outcome;
}

export const parts = { Agent, stream };
