import { builtinFacts } from "./builtin.ts";
import type { CallBody, ToolFacts, TouchedPaths } from "./definition.ts";

/** The facts of a tool by its name. */
export type FactsOf = (name: string) => ToolFacts | undefined;

/** A call out of a stream or a session file: nobody has checked its arguments. */
export interface NamedCall {
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
}

/**
 * What a call does, in a few words for people, without the name of the tool: as the tool says it, else the argument it
 * is about, else its first text, else its arguments as JSON. Empty for a call without arguments.
 */
export function callSummary({ name, args }: NamedCall, factsOf: FactsOf = builtinFacts): string {
  const facts = factsOf(name);
  const { about } = facts ?? {};
  const isComplete = about === undefined || typeof args[about] === "string";
  const own = isComplete ? answerOf(() => facts?.summary?.(args)) : undefined;
  if (typeof own === "string") return own;
  const main = about === undefined ? undefined : args[about];
  if (typeof main === "string") return main;
  const text = Object.values(args).find((value) => typeof value === "string");
  if (typeof text === "string") return text;
  return Object.keys(args).length === 0 ? "" : (answerOf(() => JSON.stringify(args)) ?? "");
}

/** The part of a call that people read better than as JSON, if it has one. */
export function callBody({ name, args }: NamedCall, factsOf: FactsOf = builtinFacts): CallBody | undefined {
  return answerOf(() => factsOf(name)?.body?.(args));
}

/** The paths that a call names; none for a tool that does not say. */
export function touchedPaths({ name, args }: NamedCall, factsOf: FactsOf = builtinFacts) {
  const touched: TouchedPaths = answerOf(() => factsOf(name)?.touches?.(args)) ?? {};
  const { reads, writes, searches } = touched;
  return { reads: texts(reads), writes: texts(writes), searches: texts(searches) };
}

function texts(values: readonly unknown[] | undefined): string[] {
  return (values ?? []).filter((value): value is string => typeof value === "string");
}

/** A tool's own code, asked about arguments that may have any shape: what makes it throw has no answer. */
function answerOf<Answer>(ask: () => Answer): Answer | undefined {
  try {
    return ask();
  } catch {
    return undefined;
  }
}
