import { join } from "node:path";
import type { Environment } from "../platform/environment.ts";
import type { PrivateChannel } from "../platform/private-channel.ts";
import { temporaryFolder } from "../platform/temporary-folder.ts";
import { type AgentSession, coreOf } from "../session/agent-session.ts";
import type { ModelRegistry } from "../settings/model-registry.ts";
import type { Inheritance } from "./inheritance.ts";

/** Hands model, keys and remaining limits to the taus that commands of a session start (R262). */
export interface HandOn {
  /** Place of the channel, for the environment of commands. */
  readonly path: string;
  /** Opens the channel; to be called before the first command. */
  open(): Promise<void>;
  /** Names the session whose state is handed on. */
  serve(session: AgentSession, registry: ModelRegistry): void;
  close(): void;
}

/** Sessions of this process so far. */
let count = 0;

/** Nothing is opened before the first command: it costs start-up time. */
export function handOn(environment: Environment): HandOn {
  const path = join(temporaryFolder().path, `${process.pid}-${++count}.sock`);
  let answer = () => "";
  let opening: Promise<PrivateChannel | undefined> | undefined;
  return {
    path,
    async open() {
      opening ??= import("../platform/private-channel.ts").then(({ openPrivateChannel }) =>
        openPrivateChannel(path, () => answer()),
      );
      await opening;
    },
    serve(session, registry) {
      answer = () => JSON.stringify(handed(session, registry, environment));
    },
    close() {
      void opening?.then((channel) => channel?.close());
    },
  };
}

function handed(session: AgentSession, registry: ModelRegistry, environment: Environment): Inheritance {
  const { models, budget } = coreOf(session).parts;
  const { variables, handedNames = [] } = environment;
  const names = [...registry.secretVariables(), ...handedNames];
  const keys = names.flatMap((name) => {
    const value = variables[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  const { provider, id } = models.model;
  return {
    model: { provider, modelId: id },
    givenKey: registry.givenKey,
    keys: Object.fromEntries(keys),
    left: budget.left(),
    depth: environment.depth + 1,
  };
}
