import type { AgentTool, BeforeToolCallContext, BeforeToolCallResult } from "@tau/agent";
import type { MaskSecrets } from "../../platform/secret-mask.ts";
import type { EntryDraft } from "../../store/entries.ts";
import { capResult, type KeepWhole } from "../../tools/pipeline/result-cap.ts";
import { callStarted } from "../context/persistence.ts";
import type { PhaseSignal } from "../events/phase.ts";
import type { HostEvent } from "../events/session-event.ts";
import type { Denied } from "../run/outcome.ts";
import type { PermissionDecision, PermissionGate } from "./permission.ts";
import type { Questions } from "./questions.ts";

interface ToolGuardParts {
  readonly gate: PermissionGate | undefined;
  readonly questions: Questions;
  readonly append: (draft: EntryDraft) => void;
  readonly emit: (event: HostEvent) => void;
  readonly phase: (signal: PhaseSignal) => void;
  readonly mask: MaskSecrets;
  /** Characters of text that one result of a message with so many calls may have. */
  readonly resultLimit: (calls: number) => number;
  readonly keepWhole: KeepWhole | undefined;
}

/** What stands around the tools: the gate before a call, the record of its start, mask and cap over what it gives back. */
export class ToolGuard {
  readonly #parts: ToolGuardParts;
  /** One wrapper for each tool, so that the list the loop gets holds the same objects each time. */
  readonly #wrapped = new WeakMap<AgentTool, AgentTool>();
  #denied: Denied[] = [];
  /** How many calls the message has whose calls run now. */
  #calls = 1;
  /** Somebody answers questions. */
  attended: boolean;

  constructor(parts: ToolGuardParts, attended: boolean) {
    this.#parts = parts;
    this.attended = attended;
  }

  /** Calls that were refused since the last `clear` because nobody was there to ask. */
  get denied(): Denied[] {
    return this.#denied;
  }

  clear(): void {
    this.#denied = [];
  }

  wrap(tools: readonly AgentTool[]): AgentTool[] {
    return tools.map((tool) => {
      const wrapper = this.#wrapped.get(tool) ?? this.#wrapper(tool);
      this.#wrapped.set(tool, wrapper);
      return wrapper;
    });
  }

  /** The loop's `beforeToolCall`: an error result for every call that the gate does not allow (P4, P6, C11). */
  async before(
    { assistantMessage, toolCall, args }: BeforeToolCallContext,
    signal: AbortSignal,
  ): Promise<BeforeToolCallResult | undefined> {
    const { gate, phase, emit } = this.#parts;
    this.#calls = assistantMessage.content.filter((block) => block.type === "toolCall").length;
    if (!gate) return undefined;
    const { id: toolCallId, name: toolName } = toolCall;
    phase("check_start");
    const decision = await this.#decide(gate, { toolCallId, toolName, args }, signal);
    if (!signal.aborted) phase("check_end");
    if (decision.action === "allow") return undefined;
    const { reason, unattended } = decision;
    if (unattended) this.#denied.push({ toolName, reason });
    emit({ type: "tool_denied", toolCallId, toolName, reason });
    return { block: true, reason };
  }

  async #decide(
    gate: PermissionGate,
    request: Parameters<PermissionGate["decide"]>[0],
    signal: AbortSignal,
  ): Promise<PermissionDecision> {
    const { questions, phase } = this.#parts;
    const ask = async (reason: string) => {
      if (signal.aborted) return { decision: "deny" as const, reason: "The run was aborted." };
      phase("ask_start");
      const answer = await questions.ask(request, reason, signal);
      if (!signal.aborted) phase("ask_end");
      return answer;
    };
    try {
      return await gate.decide(request, { signal, ...(this.attended && { ask }) });
    } catch (error) {
      return { action: "deny", reason: `The permission check failed: ${messageOf(error)}` };
    }
  }

  /** Every member is passed on by hand: tools of extensions may be class instances. */
  #wrapper(tool: AgentTool): AgentTool {
    const { append, phase, mask, keepWhole } = this.#parts;
    const limit = () => this.#parts.resultLimit(this.#calls);
    const { name, label, description, parameters, executionMode } = tool;
    return {
      name,
      label,
      description,
      parameters,
      ...(executionMode && { executionMode }),
      ...(tool.prepareArguments && { prepareArguments: (args) => tool.prepareArguments?.(args) ?? args }),
      async execute(toolCallId, args, signal, onUpdate) {
        append(callStarted(toolCallId, name));
        phase("tool_start");
        try {
          const result = mask(await tool.execute(toolCallId, args, signal, (partial) => onUpdate(mask(partial))));
          return await capResult(result, { toolCallId, limit: limit(), keep: keepWhole });
        } catch (error) {
          throw new Error(mask(messageOf(error)), { cause: error });
        } finally {
          if (!signal.aborted) phase("tool_end");
        }
      },
    };
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
