import type { HookRow } from "../hooks/points.ts";
import { childVariables } from "../platform/child-variables.ts";
import { type Environment, expandTilde } from "../platform/environment.ts";
import { growingSecretMask } from "../platform/secret-mask.ts";
import { temporaryFolder } from "../platform/temporary-folder.ts";
import { urlSecrets } from "../platform/url-secrets.ts";
import { NestedContext } from "../prompt/nested-context.ts";
import type { RunEnding } from "../session/run/outcome.ts";
import type { ModelRegistry } from "../settings/model-registry.ts";
import type { Settings } from "../settings/settings.ts";
import { type SelectedTools, selectTools } from "../settings/tool-selection.ts";
import { createBuiltinTools, DEFAULT_TOOLS } from "../tools/builtin.ts";
import type { FactsOf } from "../tools/call-facts.ts";
import type { LoopTool, ToolEnvironment, ToolSettings } from "../tools/definition.ts";
import { FileReads } from "../tools/files/file-reads.ts";
import { ToolRegistry } from "../tools/registry.ts";
import type { ToolRequest } from "./input.ts";
import { nestedContextRow } from "./nested-context-row.ts";
import type { OwnParts } from "./own-parts.ts";
import type { Resources } from "./resources.ts";
import type { SessionProcesses } from "./session-processes.ts";

export interface SessionTools {
  /** Those that are on, in the order the model sees them. */
  readonly tools: readonly LoopTool[];
  readonly toolEnvironment: ToolEnvironment;
  readonly factsOf: FactsOf;
  /** What goes onto the bus of the session. */
  readonly rows: readonly HookRow<RunEnding>[];
  /** Values that tools must not show, as far as they are known by now (R143). */
  readonly secrets: () => readonly string[];
  /** One line each, for the user. */
  readonly warnings: readonly string[];
}

export interface ToolsQuestion {
  readonly request: ToolRequest;
  /** The tools of a program, by itself or by name, in the order the model sees them; they replace the request. */
  readonly own: OwnParts["tools"] | undefined;
  readonly environment: Environment;
  readonly settings: Settings;
  /** The layers of the setting `defaultTools`. */
  readonly layers: readonly (readonly string[])[];
  /** Where the models come from; absent when a program gave one itself. */
  readonly registry: ModelRegistry | undefined;
  readonly resources: Resources;
  readonly processes: SessionProcesses;
  /** Variables that commands get besides those of the environment. */
  readonly addedVariables?: Readonly<Record<string, string>> | undefined;
  /** Working directory of the session, with and without the symlinks the user came by. */
  readonly cwd: string;
  readonly logicalCwd: string;
}

/** Makes the tools of a session. Throws ConfigError or UnknownToolError for the name of a tool that does not exist. */
export function makeTools(question: ToolsQuestion): SessionTools {
  const { environment, settings, registry: models, resources, processes, cwd, logicalCwd } = question;
  const child = childVariables({
    variables: environment.variables,
    secretNames: [...(models?.secretVariables() ?? []), ...(environment.handedNames ?? [])],
    keep: settings.keepEnv,
    ...(question.addedVariables && { add: question.addedVariables }),
    depth: environment.depth,
  });
  const temporary = temporaryFolder();
  const { httpProxy, httpsProxy } = environment.network;
  const inProxies = [settings.httpProxy, httpProxy, httpsProxy].flatMap(urlSecrets);
  const secrets = () => [...child.secrets, ...inProxies, ...(models?.literalKeys() ?? [])];
  const toolEnvironment: ToolEnvironment = {
    cwd,
    homeDir: environment.userHome,
    env: child.variables,
    tauDir: environment.tauDir,
    tempDir: temporary.path,
    settings: toolSettings(settings, environment),
    mask: growingSecretMask(secrets),
    fileReads: new FileReads(),
    // Asked for when a command starts; the module behind it is loaded with the first tool.
    get processes() {
      return processes.groups;
    },
  };
  const registry = new ToolRegistry(toolEnvironment, createBuiltinTools(toolEnvironment));
  const nested = new NestedContext(logicalCwd, resources.contextFiles);
  const chosen = toolNames(question, registry);
  return {
    tools: registry.forLoop([...chosen.names]),
    toolEnvironment,
    factsOf: (name) => registry.get(name),
    rows: [nestedContextRow({ nested, tools: registry, cwd: logicalCwd, homeDir: environment.userHome })],
    secrets,
    warnings: [...temporary.warnings, ...chosen.warnings],
  };
}

function toolNames({ own, request, layers }: ToolsQuestion, registry: ToolRegistry): SelectedTools {
  if (own) {
    for (const tool of own) if (typeof tool !== "string") registry.register(tool);
    return { names: own.map((tool) => (typeof tool === "string" ? tool : tool.name)), warnings: [] };
  }
  return selectTools({
    available: registry.list().map(({ name }) => name),
    defaults: DEFAULT_TOOLS,
    layers,
    ...(request.list && { list: request.list }),
    ...(request.exclude && { exclude: request.exclude }),
    none: request.none ?? false,
  });
}

function toolSettings(settings: Settings, { userHome }: Environment): ToolSettings {
  const { bashTimeoutSeconds, shellPath, shellCommandPrefix, images } = settings;
  return {
    bashTimeoutSeconds,
    ...(shellPath !== undefined && { shellPath: expandTilde(shellPath, userHome) }),
    ...(shellCommandPrefix !== undefined && { shellCommandPrefix }),
    resizeImages: images.autoResize,
    blockImages: images.blockImages,
  };
}
