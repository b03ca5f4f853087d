import type {
  AfterToolCallContext,
  AfterToolCallResult,
  AgentMessage,
  AgentTool,
  AgentToolResult,
  BeforeToolCallContext,
  BeforeToolCallResult,
  ToolUpdateCallback,
} from "@tau/agent";
import { validateArguments } from "@tau/agent/validate";
import type { HookBus } from "../../hooks/hook-bus.ts";
import type { FinishedCall, ToolCheck, ToolOpinion } from "../../hooks/points.ts";
import type { MaskSecrets } from "../../platform/secret-mask.ts";
import { reasonOf } from "../../platform/thrown.ts";
import { errorResult, type LoopTool } from "../definition.ts";
import { capResult, type KeepWhole } from "./result-cap.ts";

/** The last word on a call. */
export type ToolDecision =
  | { readonly action: "allow"; readonly args?: Record<string, unknown> }
  | { readonly action: "deny"; readonly reason: string };

/** Those who may have an opinion on a call, each asked when its turn comes in the order of who decides (law P1). */
export interface CheckSteps {
  /** The rows before a tool: extensions and the program. */
  rows(call: ToolCheck): Promise<ToolOpinion | undefined>;
  /** The tool's own `checkPermission`. */
  tool(call: ToolCheck): Promise<ToolOpinion | undefined>;
}

export interface PipelineParts {
  readonly hooks: Pick<HookBus, "has" | "beforeTool" | "afterTool">;
  readonly mask: MaskSecrets;
  /** Characters of text that one result of a message with so many calls may have. */
  readonly resultLimit: (calls: number) => number;
  readonly keepWhole?: KeepWhole | undefined;
  /** Decides on a call, in whatever order it asks the steps. */
  readonly decide: (call: ToolCheck, steps: CheckSteps, signal: AbortSignal) => Promise<ToolDecision>;
  /** Told right before a tool runs. */
  readonly onStart?: (toolCallId: string, toolName: string) => void;
  /** Told right after it ran. */
  readonly onEnd?: (signal: AbortSignal) => void;
}

/** A call outside of the loop. */
export interface ToolExecution {
  readonly toolCallId: string;
  readonly args: Record<string, unknown>;
  readonly signal: AbortSignal;
  readonly onUpdate?: ToolUpdateCallback;
}

/** The decision where nobody can be asked and everything that nobody minds is allowed. */
export async function decideAlone(call: ToolCheck, steps: CheckSteps): Promise<ToolDecision> {
  const rows = await steps.rows(call);
  const seen = withArgs(call, rows);
  const opinion = rows && rows.action !== "allow" ? rows : await steps.tool(seen);
  if (opinion && opinion.action !== "allow") return { action: "deny", reason: opinion.reason };
  return seen === call ? { action: "allow" } : { action: "allow", args: { ...seen.args } };
}

/**
 * What happens to every call of every tool, in this order: validate, check, record the start, run, hooks, mask, cap.
 * The loop validates by itself and takes the stages as its tools (`wrap`), `beforeToolCall` (`before`) and
 * `afterToolCall` (`after`); `execute` is all of them in a row.
 */
export class ToolPipeline {
  readonly #parts: PipelineParts;
  /** One wrapper for each tool, so that the list the loop gets holds the same objects each time. */
  readonly #wrapped = new WeakMap<LoopTool, AgentTool>();
  readonly #original = new WeakMap<AgentTool, LoopTool>();

  constructor(parts: PipelineParts) {
    this.#parts = parts;
  }

  /** The tools as the loop gets them: the start is recorded, and nothing comes out unmasked. */
  wrap(tools: readonly LoopTool[]): AgentTool[] {
    return tools.map((tool) => {
      const wrapper = this.#wrapped.get(tool) ?? this.#wrapper(tool);
      this.#wrapped.set(tool, wrapper);
      this.#original.set(wrapper, tool);
      return wrapper;
    });
  }

  /** The check: whoever decides for the host, who hears the rows and the tool. */
  async before(
    { toolCall, args, context }: BeforeToolCallContext,
    signal: AbortSignal,
  ): Promise<BeforeToolCallResult | undefined> {
    const wrapper = context.tools?.find(({ name }) => name === toolCall.name);
    const tool = wrapper && this.#original.get(wrapper);
    const decision = await this.#check(tool, { toolCallId: toolCall.id, toolName: toolCall.name, args }, signal);
    if (decision.action === "deny") return { block: true, reason: decision.reason };
    return decision.args ? { args: decision.args } : undefined;
  }

  /** Rows after the call, then mask and cap, so that what a row adds has both (report R245). */
  async after(call: AfterToolCallContext, signal: AbortSignal): Promise<AfterToolCallResult | undefined> {
    const calls = call.assistantMessage.content.filter((block) => block.type === "toolCall").length;
    const finished = await this.#finish(call, calls, signal);
    return finished === call.result ? undefined : finished;
  }

  /** A message that a row put in the place of another: mask and cap come last for it, too. */
  async replaced(message: AgentMessage): Promise<AgentMessage> {
    if (message.role !== "toolResult") return message;
    const { mask, resultLimit, keepWhole } = this.#parts;
    const { content, details, toolCallId } = mask(message);
    const capped = await capResult({ content, details }, { toolCallId, limit: resultLimit(1), keep: keepWhole });
    return { ...message, content: capped.content, ...(details !== undefined && { details }) };
  }

  /** Runs one call outside of the loop. Never rejects: whatever fails is an error result. */
  async execute(tool: LoopTool, { toolCallId, args, signal, onUpdate }: ToolExecution): Promise<AgentToolResult> {
    try {
      const valid = validateArguments(tool.parameters, tool.prepareArguments?.(args) ?? args);
      if (!valid.ok) return errorResult(`Invalid arguments for ${tool.name}:\n${valid.text}`);
      const decision = await this.#check(tool, { toolCallId, toolName: tool.name, args: valid.args }, signal);
      if (decision.action === "deny") return errorResult(decision.reason);
      const allowed = decision.args ?? valid.args;
      const [wrapper] = this.wrap([tool]);
      const update = onUpdate ?? (() => undefined);
      const result = await settled(() => (wrapper ?? tool).execute(toolCallId, allowed, signal, update));
      const toolCall = { type: "toolCall" as const, id: toolCallId, name: tool.name, arguments: allowed };
      return await this.#finish({ toolCall, args: allowed, result, isError: result.isError === true }, 1, signal);
    } catch (error) {
      return errorResult(this.#parts.mask(reasonOf(error)));
    }
  }

  #check(tool: LoopTool | undefined, call: ToolCheck, signal: AbortSignal): Promise<ToolDecision> {
    const { hooks, decide } = this.#parts;
    const steps: CheckSteps = {
      rows: async (seen) => (hooks.has("beforeTool") ? hooks.beforeTool(seen, signal) : undefined),
      tool: (seen) => opinionOf(tool, seen, signal),
    };
    return decide(call, steps, signal);
  }

  async #finish(call: FinishedCall, calls: number, signal: AbortSignal): Promise<AgentToolResult> {
    const { hooks, mask, resultLimit, keepWhole } = this.#parts;
    let { result } = call;
    if (hooks.has("afterTool")) {
      const { changes, failures } = await hooks.afterTool(call, signal);
      if (changes || failures.length > 0) result = mask(withRows(call, changes, failures));
    }
    return capResult(result, { toolCallId: call.toolCall.id, limit: resultLimit(calls), keep: keepWhole });
  }

  /** Every member is passed on by hand: tools of extensions may be class instances. */
  #wrapper(tool: LoopTool): AgentTool {
    const { mask, onStart, onEnd } = this.#parts;
    const { name, label, description, parameters, executionMode } = tool;
    return {
      name,
      label,
      description,
      parameters,
      ...(executionMode && { executionMode }),
      ...(tool.prepareArguments && { prepareArguments: (args) => tool.prepareArguments?.(args) ?? args }),
      async execute(toolCallId, args, signal, onUpdate) {
        onStart?.(toolCallId, name);
        try {
          // Masked here as well as after the rows: an abort may cut those off.
          return mask(await tool.execute(toolCallId, args, signal, (partial) => onUpdate(mask(partial))));
        } catch (error) {
          throw new Error(mask(reasonOf(error)), { cause: error });
        } finally {
          onEnd?.(signal);
        }
      },
    };
  }
}

/** The result with what the rows changed; a row that failed leaves a note for the model (C13). */
function withRows(
  { result, isError }: FinishedCall,
  changes: AfterToolCallResult | undefined,
  failures: readonly { readonly message: string }[],
): AgentToolResult {
  const changed = { ...result, isError, ...changes };
  const notes = failures.map(({ message }) => ({
    type: "text" as const,
    text: `[The hook after this call failed: ${message}]`,
  }));
  return { ...changed, content: [...changed.content, ...notes] };
}

/** The call with the arguments that an opinion gave it. */
export function withArgs(call: ToolCheck, opinion: ToolOpinion | undefined): ToolCheck {
  return opinion?.action === "allow" && opinion.args ? { ...call, args: opinion.args } : call;
}

/** Fails closed. */
async function opinionOf(
  tool: LoopTool | undefined,
  { toolCallId, toolName, args }: ToolCheck,
  signal: AbortSignal,
): Promise<ToolOpinion | undefined> {
  try {
    return await tool?.checkPermission?.({ ...args }, { toolCallId, toolName, args, signal });
  } catch (error) {
    return { action: "deny", reason: `The check of ${toolName} failed: ${reasonOf(error)}` };
  }
}

async function settled(run: () => Promise<AgentToolResult>): Promise<AgentToolResult> {
  try {
    return await run();
  } catch (error) {
    return errorResult(reasonOf(error));
  }
}
