import type { Agent, AgentMessage } from "@tau/agent";
import type { SystemMessage } from "@tau/llm";
import { EMPTY_HEAD, replayHead } from "@tau/llm/head";
import type { Projection } from "../../store/session-store.ts";
import type { ToolPipeline } from "../../tools/pipeline/tool-pipeline.ts";
import type { ModelChoice } from "../models/model-choice.ts";
import type { SessionHead } from "./session-head.ts";
import type { Transcript } from "./transcript.ts";

interface RunContextParts {
  readonly transcript: Transcript;
  readonly head: SessionHead;
  readonly models: ModelChoice;
  readonly pipeline: ToolPipeline;
  readonly now: () => number;
}

/** Stands at the head of a transcript that does not begin with a prompt, so that later changes are changes of nothing. */
const NOTHING_TOLD: SystemMessage = { role: "system", content: "", timestamp: 0 };

/** What the agent begins a run with: messages, prompt, tools, model and level. */
export class RunContext {
  readonly #parts: RunContextParts;
  readonly #agent: Agent;
  #opened = false;
  /** The model and the level of the transcript when it was taken over. */
  #inFile: Pick<Projection, "model" | "thinkingLevel"> = {};

  constructor(parts: RunContextParts, agent: Agent) {
    this.#parts = parts;
    this.#agent = agent;
  }

  /** Continues with what the store gives. */
  takeOver({ system, messages, entryIds: _ids, ...choice }: Projection): void {
    const { head } = this.#parts;
    this.#inFile = choice;
    const empty = !system && messages.length === 0;
    head.replay(replayHead(EMPTY_HEAD, system ? [system, ...messages] : messages));
    this.#agent.state.messages = empty ? [] : [system ?? NOTHING_TOLD, ...messages];
    // A transcript that begins gets its head first.
    if (empty) this.#opened = false;
  }

  /**
   * Tells the model what changed since the last request, and records it (laws B8, F2). Behind calls that have no
   * result yet it has to wait for the results that the run begins with: then it is given back, to be sent along.
   */
  prepare(): SystemMessage[] {
    const agent = this.#agent;
    const { models, head, pipeline, now } = this.#parts;
    if (!this.#opened) this.#open();
    const change = head.change(now());
    const waits = change !== undefined && hasOpenCalls(agent.state.messages);
    if (change && !waits) this.#tell(change);
    agent.state.systemPrompt = head.promptText;
    agent.state.tools = pipeline.wrap(head.tools);
    agent.state.model = models.model;
    agent.state.thinkingLevel = models.level;
    return waits ? withoutTools(change) : [];
  }

  #open(): void {
    const { models, head, now } = this.#parts;
    const begins = this.#agent.state.messages.length === 0;
    this.#opened = true;
    models.open(this.#inFile);
    if (begins) this.#tell(head.first(now()));
  }

  #tell(message: SystemMessage): void {
    const { transcript, models, head } = this.#parts;
    transcript.record(message, models.model.id);
    head.tell(message);
    this.#agent.state.messages = [...this.#agent.state.messages, message];
  }
}

/** The last thing that was said is a message with calls, and some of them have no result. */
function hasOpenCalls(messages: readonly AgentMessage[]): boolean {
  const at = messages.findLastIndex(({ role }) => role !== "toolResult");
  const last = messages[at];
  if (last?.role !== "assistant") return false;
  const answered = new Set(messages.slice(at + 1).map((result) => "toolCallId" in result && result.toolCallId));
  return last.content.some((block) => block.type === "toolCall" && !answered.has(block.id));
}

/** The loop itself tells which tools are new or gone, behind the results that it begins with. */
function withoutTools({ toolsAdded: _added, toolsRemoved: _removed, ...rest }: SystemMessage): SystemMessage[] {
  return rest.sections ? [rest] : [];
}
