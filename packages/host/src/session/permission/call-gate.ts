import type { ToolCheck, ToolOpinion } from "../../hooks/points.ts";
import { reasonOf } from "../../platform/thrown.ts";
import { type CheckSteps, type ToolDecision, withArgs } from "../../tools/pipeline/tool-pipeline.ts";
import type { PhaseSignal } from "../events/phase.ts";
import type { HostEvent } from "../events/session-event.ts";
import type { Denied } from "../run/outcome.ts";
import type { PermissionAnswer, PermissionDecision, PermissionGate } from "./permission.ts";
import type { Questions } from "./questions.ts";

interface CallGateParts {
  readonly gate: PermissionGate | undefined;
  readonly questions: Questions;
  readonly emit: (event: HostEvent) => void;
  readonly phase: (signal: PhaseSignal) => void;
}

/** A denial of something that a person could have allowed. */
const UNATTENDED = "Nobody is there to allow this call.";

/**
 * The session's decision on a call, the last step of the check: a denial of a row or of the tool holds, a row's question
 * is put to the user, and then the permission gate has its word. Without a gate everything else is allowed.
 */
export class CallGate {
  readonly #parts: CallGateParts;
  #denied: Denied[] = [];
  /** Somebody answers questions. */
  attended: boolean;

  constructor(parts: CallGateParts, attended: boolean) {
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

  async decide(call: ToolCheck, steps: CheckSteps, signal: AbortSignal): Promise<ToolDecision> {
    const { phase, emit } = this.#parts;
    const rows = await steps.rows(call);
    const seen = withArgs(call, rows);
    const opinion = rows && rows.action !== "allow" ? rows : await this.#ofTool(seen, steps);
    if (!this.#parts.gate && opinion === undefined) return allowed(seen, call);
    phase("check_start");
    const decision = await this.#judge(seen, opinion, signal);
    if (!signal.aborted) phase("check_end");
    if (decision.action === "allow") return allowed(seen, call);
    const { toolCallId, toolName } = call;
    const { reason, unattended } = decision;
    if (unattended) this.#denied.push({ toolName, reason });
    emit({ type: "tool_denied", toolCallId, toolName, reason });
    return { action: "deny", reason };
  }

  /** Without a gate everything is allowed that nobody forbids: a tool's question is not asked then. */
  async #ofTool(call: ToolCheck, steps: CheckSteps): Promise<ToolOpinion | undefined> {
    const said = await steps.tool(call);
    return said?.action === "allow" || (said?.action === "ask" && !this.#parts.gate) ? undefined : said;
  }

  async #judge(call: ToolCheck, opinion: ToolOpinion | undefined, signal: AbortSignal): Promise<PermissionDecision> {
    const ask = (reason: string) => this.#ask(call, reason, signal);
    if (opinion?.action === "deny") return opinion;
    if (opinion?.action === "ask") {
      if (!this.attended) return { action: "deny", reason: `${opinion.reason} ${UNATTENDED}`, unattended: true };
      return decisionOf(await ask(opinion.reason));
    }
    try {
      return (await this.#parts.gate?.decide(call, { signal, ...(this.attended && { ask }) })) ?? { action: "allow" };
    } catch (error) {
      const message = reasonOf(error);
      return { action: "deny", reason: `The permission check failed: ${message}` };
    }
  }

  async #ask(call: ToolCheck, reason: string, signal: AbortSignal): Promise<PermissionAnswer> {
    const { questions, phase } = this.#parts;
    if (signal.aborted) return { decision: "deny", reason: "The run was aborted." };
    phase("ask_start");
    const answer = await questions.ask(call, reason, signal);
    if (!signal.aborted) phase("ask_end");
    return answer;
  }
}

function allowed(seen: ToolCheck, call: ToolCheck): ToolDecision {
  return seen === call ? { action: "allow" } : { action: "allow", args: { ...seen.args } };
}

function decisionOf(answer: PermissionAnswer): PermissionDecision {
  if (answer.decision === "allow") return { action: "allow" };
  return { action: "deny", reason: answer.reason ?? "The user denied this call." };
}
