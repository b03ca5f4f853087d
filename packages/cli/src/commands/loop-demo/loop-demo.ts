import { Agent, type AgentEvent, type AgentMessage, agentLoop, defaultConvertToLlm, runAgentLoop } from "@tau/agent";
import { createAgentSession, createMemoryStore } from "@tau/host";
import { createScript, type Script, scriptedModel, toolCall } from "@tau/llm/testing";
import { EXIT } from "../../process/exit-codes.ts";
import { calculateTool } from "./calculate.ts";
import { FINGERPRINT, orderName, transcriptHash } from "./canonical.ts";

const PROMPT = "What is 12*3+6?";
const SYSTEM_PROMPT = "You calculate with the tool.";
const ORDER = [
  "agent_start",
  "turn_start",
  "message_end user",
  "message_end assistant",
  "tool_execution_start",
  "tool_execution_end",
  "message_end toolResult",
  "turn_start",
  "message_end assistant",
  "agent_end",
];

/** What one run of the two-reply script left. */
export interface LoopDemoRun {
  readonly order: readonly string[];
  readonly messages: readonly AgentMessage[];
  readonly script: Script;
  readonly idle: boolean;
}

interface Drive {
  readonly script: Script;
  see(event: AgentEvent): void;
}

/** The same run through each way into the library; each says whether it was idle at its end. */
export const WAYS: Readonly<Record<string, (drive: Drive) => Promise<boolean>>> = {
  runAgentLoop: async ({ script, see }) => {
    await runAgentLoop([question()], context(), config(), see, undefined, script.streamFn);
    return true;
  },
  agentLoop: async ({ script, see }) => {
    for await (const event of agentLoop([question()], context(), config(), undefined, script.streamFn)) see(event);
    return true;
  },
  Agent: async ({ script, see }) => {
    const initialState = { model: scriptedModel(), systemPrompt: SYSTEM_PROMPT, tools: [calculateTool] };
    const agent = new Agent({ initialState, streamFn: script.streamFn });
    agent.subscribe(see);
    await agent.prompt(PROMPT);
    return !agent.state.isStreaming && agent.state.pendingToolCalls.size === 0;
  },
  AgentSession: async ({ script, see }) => {
    const store = createMemoryStore({ cwd: "/" });
    const base = { cwd: "/", model: scriptedModel(), tools: [calculateTool], systemPrompt: SYSTEM_PROMPT };
    const session = await createAgentSession({ ...base, store, streamFn: script.streamFn });
    session.subscribe((event) => see(event as AgentEvent));
    await session.prompt(PROMPT);
    const idle = !session.state.isStreaming;
    await session.dispose();
    return idle;
  },
};

/** Runs the script of law D1 one way. */
export async function runLoopOnce(way: string): Promise<LoopDemoRun> {
  const script = createScript([
    { content: [toolCall("calculate", { expression: "12*3+6" })] },
    { content: ["12*3+6 is 42."] },
  ]);
  const order: string[] = [];
  const messages: AgentMessage[] = [];
  const see = (event: AgentEvent) => {
    const name = orderName(event);
    if (name) order.push(name);
    if (event.type === "message_end") messages.push(event.message);
  };
  const idle = (await WAYS[way]?.({ script, see })) ?? false;
  return { order, messages, script, idle };
}

/** The five checks of law D2, and the order of law D1. */
export function checkRun({ order, messages, script, idle }: LoopDemoRun): Readonly<Record<string, boolean>> {
  const results = messages.filter((message) => message.role === "toolResult");
  const calls = messages.flatMap((message) => (message.role === "assistant" ? message.content : []));
  const callIds = calls.flatMap((block) => (block.type === "toolCall" ? [block.id] : []));
  const secondRequest = script.calls[1]?.context.messages ?? [];
  return {
    "the events are in order": JSON.stringify(order) === JSON.stringify(ORDER),
    "the tool ran": JSON.stringify(results[0]?.content).includes('"42"'),
    "its result was fed back": secondRequest.some((message) => message.role === "toolResult"),
    "no call is left open": callIds.every((id) => results.some((result) => result.toolCallId === id)),
    "the agent is idle": idle,
    "the model was asked twice": script.calls.length === 2,
  };
}

/** `tau demo loop`: one tool round trip through every way into the library, checked and fingerprinted (laws D1-D3). */
export async function runLoopDemo(): Promise<number> {
  const hashes = new Set<string>();
  let failed = false;
  for (const way of Object.keys(WAYS)) {
    const run = await runLoopOnce(way);
    if (hashes.size === 0) say(`${run.order.join("\n")}\n`);
    hashes.add(transcriptHash(run.messages));
    const broken = Object.entries(checkRun(run)).flatMap(([check, holds]) => (holds ? [] : [check]));
    failed ||= broken.length > 0;
    say(`${way}: ${broken.length === 0 ? "all checks hold" : `NOT: ${broken.join("; ")}`}`);
  }
  say(`transcript sha256 ${[...hashes].join(" ")}`);
  return failed || hashes.size !== 1 || !hashes.has(FINGERPRINT) ? EXIT.failed : EXIT.done;
}

const question = (): AgentMessage => ({ role: "user", content: PROMPT, timestamp: 0 });
const context = () => ({ systemPrompt: SYSTEM_PROMPT, messages: [], tools: [calculateTool] });
const config = () => ({ model: scriptedModel(), thinkingLevel: "off" as const, convertToLlm: defaultConvertToLlm });

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}
