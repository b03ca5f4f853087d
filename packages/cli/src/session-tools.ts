import { tmpdir } from "node:os";
import { join } from "node:path";
import type { AgentTool } from "@tau/agent";
import {
  childVariables,
  createBuiltinTools,
  DEFAULT_TOOLS,
  type Environment,
  expandTilde,
  NestedContext,
  selectTools,
  splitToolList,
  type ToolEnvironment,
} from "@tau/host";
import type { CliArgs } from "./arguments/args.ts";
import type { Configuration } from "./configuration.ts";
import { withNestedContext } from "./nested-context-tool.ts";
import type { Resources } from "./project-resources.ts";

export interface SessionTools {
  /** Those that are on, in the order the model sees them. */
  readonly tools: readonly AgentTool[];
  readonly toolEnvironment: ToolEnvironment;
  /** Values that tools must not show, as far as they are known by now (R143). */
  readonly secrets: () => readonly string[];
}

export interface ToolsQuestion {
  readonly args: CliArgs;
  readonly environment: Environment;
  readonly configuration: Configuration;
  readonly resources: Resources;
  /** Working directory of the session, with and without the symlinks the user came by. */
  readonly cwd: string;
  readonly logicalCwd: string;
}

/** Makes the tools of a session. Throws ConfigError for a name that is no tool. */
export function makeTools(question: ToolsQuestion): SessionTools {
  const { args, environment, configuration, resources, cwd, logicalCwd } = question;
  const child = childVariables({
    variables: environment.variables,
    secretNames: configuration.registry.secretVariables(),
    keep: configuration.settings.keepEnv,
    depth: environment.depth,
  });
  const toolEnvironment: ToolEnvironment = {
    cwd,
    homeDir: environment.userHome,
    env: child.variables,
    tauDir: environment.tauDir,
    // One folder a user: on a shared machine a common name would belong to whoever came first.
    tempDir: join(tmpdir(), `tau-${process.getuid?.() ?? "user"}`),
    settings: toolSettings(configuration, environment),
  };
  const all = createBuiltinTools(toolEnvironment);
  const list = args.texts.tools?.flatMap(splitToolList);
  const exclude = args.texts["exclude-tools"]?.flatMap(splitToolList);
  const on = new Set(
    selectTools({
      available: all.map(({ name }) => name),
      defaults: DEFAULT_TOOLS,
      layers: configuration.toolLayers,
      ...(list && { list }),
      ...(exclude && { exclude }),
      none: args.flags.has("no-tools"),
    }),
  );
  const nested = args.flags.has("no-context-files") ? undefined : new NestedContext(logicalCwd, resources.contextFiles);
  const tools = all.filter(({ name }) => on.has(name)).map((tool) => (nested ? withNestedContext(tool, nested) : tool));
  return { tools, toolEnvironment, secrets: () => [...child.secrets, ...configuration.registry.literalKeys()] };
}

function toolSettings({ settings }: Configuration, { userHome }: Environment): ToolEnvironment["settings"] {
  const { bashTimeoutSeconds, shellPath, shellCommandPrefix, images } = settings;
  return {
    bashTimeoutSeconds,
    ...(shellPath !== undefined && { shellPath: expandTilde(shellPath, userHome) }),
    ...(shellCommandPrefix !== undefined && { shellCommandPrefix }),
    resizeImages: images.autoResize,
    blockImages: images.blockImages,
  };
}
