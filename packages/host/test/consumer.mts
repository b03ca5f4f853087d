// A program of somebody else: compiled by public-door.test.ts, never run.
import { Agent } from "@tau/agent";
import {
  type AgentTool,
  type CreateAgentSessionOptions,
  createAgentSession,
  errorResult,
  type RunOutcome,
  type SessionEvent,
  textResult,
} from "@tau/host";
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

interface Bird {
  name: string;
}

/** The data of an answer has the type that was asked for, once it is known to be there. */
export async function bird(): Promise<Bird | undefined> {
  const session = await createAgentSession(options);
  const outcome = await session.prompt<Bird>("Which bird?", { schema: { type: "object" } });
  return outcome.status === "done" ? outcome.data : undefined;
}

/** A typed tool may fail with details of its own type. */
export const weather: AgentTool<{ city: string }, { degrees?: number }> = {
  name: "weather",
  label: "Weather",
  description: "Says how warm it is.",
  parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
  async execute(_toolCallId, { city }) {
    return city === "" ? errorResult("Name a city.", {}) : textResult(`${city}: 7`, { degrees: 7 });
  },
};
