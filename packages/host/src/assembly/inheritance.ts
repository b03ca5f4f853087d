import { CHANNEL_VARIABLE } from "../platform/child-variables.ts";
import type { Environment } from "../platform/environment.ts";
import { askPrivateChannel } from "../platform/private-channel.ts";
import type { LimitsLeft } from "../session/run/budget.ts";
import { isObject, type JsonObject } from "../settings/json-file.ts";
import type { Settings } from "../settings/settings.ts";
import type { Configuration } from "./configuration.ts";
import type { AssemblyInput } from "./input.ts";

/** What a tau hands to those that its commands start. */
export interface Inheritance {
  /** `provider/id` of the model in use. */
  readonly model: { readonly provider: string; readonly modelId: string };
  /** A key that was given by hand, for its provider only. */
  readonly givenKey: { readonly provider: string; readonly key: string } | undefined;
  /** Variables with keys, which commands do not see. */
  readonly keys: Readonly<Record<string, string>>;
  /** What is left of the limits; absent is not a limit. */
  readonly left: LimitsLeft;
  /** How many taus are above the one that asks. */
  readonly depth: number;
}

/** What a tau that was started by a command of another one begins with. */
export interface Inherited {
  readonly input: AssemblyInput;
  readonly environment: Environment;
  /** Lays the limits that are left over those of the configuration; the lower one holds. */
  tighten(configuration: Configuration): Configuration;
}

/** Asks the tau above for what it hands on; undefined when there is none, or it does not answer. */
export async function inherit(input: AssemblyInput, environment: Environment): Promise<Inherited | undefined> {
  const path = environment.variables[CHANNEL_VARIABLE];
  const given = path ? parse(await askPrivateChannel(path)) : undefined;
  if (!given) return undefined;
  return {
    input: { ...input, model: { ...input.model, inherited: given.model } },
    environment: {
      ...environment,
      variables: { ...given.keys, ...environment.variables },
      handedNames: Object.keys(given.keys),
      depth: Math.max(environment.depth, given.depth),
    },
    tighten(configuration) {
      const { givenKey } = given;
      if (givenKey) configuration.registry.useKey(givenKey.provider, givenKey.key);
      const { settings } = configuration;
      return { ...configuration, settings: { ...settings, limits: lower(settings.limits, given.left) } };
    },
  };
}

function lower(limits: Settings["limits"], left: LimitsLeft): Settings["limits"] {
  const least = (own: number | undefined, handed: number | undefined) =>
    handed === undefined ? own : Math.min(own ?? handed, handed);
  return {
    ...limits,
    maxTurns: least(limits.maxTurns, left.maxTurns),
    maxCost: least(limits.maxCost, left.maxCost),
    // 0 stands for no limit.
    maxSeconds: least(limits.maxSeconds || undefined, left.maxMs === undefined ? undefined : left.maxMs / 1000),
  };
}

function parse(text: string | undefined): Inheritance | undefined {
  if (text === undefined) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) && isInheritance(value) ? value : undefined;
  } catch {
    return undefined; // Cut off: the tau above ended while it wrote.
  }
}

function isInheritance(value: JsonObject): value is JsonObject & Inheritance {
  return isObject(value.model) && isObject(value.keys) && isObject(value.left) && typeof value.depth === "number";
}
