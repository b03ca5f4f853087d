import type { AfterToolCallResult, AgentMessage, AgentToolResult } from "@tau/agent";
import {
  type FinishedCall,
  HOOK_STAGES,
  type HookPoint,
  type HookRow,
  type ToolCheck,
  type ToolOpinion,
} from "./points.ts";
import { inTime } from "./time-limit.ts";

/** A row that threw, took too long, or answered what cannot be used. The other rows were asked all the same. */
export interface HookFailure {
  readonly name: string;
  readonly point: HookPoint;
  readonly message: string;
}

/** What the rows after a tool made of its result. */
export interface AfterToolRows {
  /** The fields that changed; undefined when none did. */
  readonly changes: AfterToolCallResult | undefined;
  readonly failures: readonly HookFailure[];
}

type RowOf<Point extends HookPoint, Outcome> = Extract<HookRow<Outcome>, { point: Point }>;

/**
 * The one place where a session's work can be watched and changed: rows in a fixed order (see `HOOK_STAGES`), asked one
 * after another, each of which sees what the earlier ones changed. A row that fails is reported and passed over, but
 * before a tool it denies. Rows may come and go at any time; who is asked already is asked to the end.
 */
export class HookBus<Outcome = unknown> {
  #rows: readonly HookRow<Outcome>[] = [];
  #report: (failure: HookFailure) => void = () => undefined;

  /** Sets who is told of rows that failed; the session that uses the bus does. */
  reportTo(report: (failure: HookFailure) => void): void {
    this.#report = report;
  }

  /** @returns takes the row away again */
  add(row: HookRow<Outcome>): () => void {
    this.replace([], [row]);
    return () => this.replace([row], []);
  }

  /** Takes rows away and adds others in one step, so that no event meets a half of either. */
  replace(old: readonly HookRow<Outcome>[], rows: readonly HookRow<Outcome>[]): void {
    const gone = new Set(old);
    const left = this.#rows.filter((row) => !gone.has(row));
    const rank = ({ stage }: HookRow<Outcome>) => HOOK_STAGES.indexOf(stage);
    this.#rows = [...left, ...rows].sort((one, other) => rank(one) - rank(other));
  }

  has(point: HookPoint): boolean {
    return this.#rows.some((row) => row.point === point);
  }

  /** Messages to begin a turn with. */
  async beforeTurn(signal: AbortSignal): Promise<AgentMessage[]> {
    const messages: AgentMessage[] = [];
    for (const row of this.#at("beforeTurn")) {
      messages.push(...((await this.#ask(row, () => row.run(signal), signal)) ?? []));
    }
    return messages;
  }

  /** The messages that a request is to have. */
  async context(messages: AgentMessage[], signal: AbortSignal): Promise<AgentMessage[]> {
    let now = messages;
    for (const row of this.#at("context")) now = (await this.#ask(row, () => row.run(now, signal), signal)) ?? now;
    return now;
  }

  /** The first denial or question; else `allow` with the arguments that the rows gave, or no opinion. */
  async beforeTool(call: ToolCheck, signal: AbortSignal): Promise<ToolOpinion | undefined> {
    let opinion: ToolOpinion | undefined;
    for (const row of this.#at("beforeTool")) {
      const seen = opinion?.action === "allow" && opinion.args ? { ...call, args: opinion.args } : call;
      const said = await this.#opinion(row, seen, signal);
      if (said?.action === "deny" || said?.action === "ask") return said;
      if (said) opinion = { ...opinion, ...said };
    }
    return opinion;
  }

  /** Asks all rows after a tool, one after another. */
  async afterTool(call: FinishedCall, signal: AbortSignal): Promise<AfterToolRows> {
    const failures: HookFailure[] = [];
    let changes: AfterToolCallResult | undefined;
    for (const row of this.#at("afterTool")) {
      const seen = withChanges(call, changes);
      const given = await this.#ask(
        row,
        () => row.run(seen, signal),
        signal,
        (failure) => failures.push(failure),
      );
      if (given) changes = { ...changes, ...definedFields(given) };
    }
    return { changes, failures };
  }

  /** The message that takes the place of this one; undefined when it stays. */
  async message(message: AgentMessage, signal: AbortSignal): Promise<AgentMessage | undefined> {
    let now: AgentMessage | undefined;
    for (const row of this.#at("message")) {
      const given = await this.#ask(row, () => row.run(now ?? message, signal), signal);
      if (given?.role === message.role) now = given;
      else if (given) this.#failed(row, `gave a message with the role "${given.role}" for one of "${message.role}"`);
    }
    return now;
  }

  /** Messages to continue with when nothing else is left to do. */
  async beforeSettle(outcome: Outcome, signal: AbortSignal): Promise<AgentMessage[]> {
    const messages: AgentMessage[] = [];
    for (const row of this.#at("beforeSettle")) {
      messages.push(...((await this.#ask(row, () => row.run(outcome, signal), signal)) ?? []));
    }
    return messages;
  }

  #at<Point extends HookPoint>(point: Point): RowOf<Point, Outcome>[] {
    return this.#rows.filter((row): row is RowOf<Point, Outcome> => row.point === point);
  }

  /** Fails closed. */
  async #opinion(row: RowOf<"beforeTool", Outcome>, call: ToolCheck, signal: AbortSignal) {
    let failed: ToolOpinion | undefined;
    const said = await this.#ask(
      row,
      () => row.run(call, signal),
      signal,
      ({ name, message }) => {
        failed = { action: "deny", reason: `The check of ${name} failed: ${message}` };
      },
    );
    return failed ?? said;
  }

  async #ask<Value>(
    row: HookRow<Outcome>,
    work: () => Value | Promise<Value>,
    signal: AbortSignal,
    onFailure?: (failure: HookFailure) => void,
  ): Promise<Value | undefined> {
    try {
      return await inTime(work, { timeoutMs: row.timeoutMs, signal });
    } catch (error) {
      const failure = this.#failed(row, error instanceof Error ? error.message : String(error));
      onFailure?.(failure);
      return undefined;
    }
  }

  #failed({ name, point }: HookRow<Outcome>, message: string): HookFailure {
    const failure: HookFailure = { name, point, message };
    this.#report(failure);
    return failure;
  }
}

/** With a result of its own for the next row, so that what one changes in place does not reach the others. */
function withChanges(call: FinishedCall, changes: AfterToolCallResult | undefined): FinishedCall {
  const result: AgentToolResult = { ...call.result, ...changes };
  const own = { ...result, content: result.content.map((block) => ({ ...block })) };
  return { ...call, result: own, isError: changes?.isError ?? call.isError };
}

function definedFields({ content, details, isError, terminate }: AfterToolCallResult): AfterToolCallResult {
  return {
    ...(Array.isArray(content) && { content }),
    ...(details !== undefined && { details }),
    ...(isError !== undefined && { isError }),
    ...(terminate !== undefined && { terminate }),
  };
}
