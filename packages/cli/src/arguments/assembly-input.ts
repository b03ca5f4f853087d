import { type AssemblyInput, splitToolList } from "@tau/host/program";
import type { CliArgs } from "./args.ts";

/** What the flags ask of a session. */
export function assemblyInput(args: CliArgs): AssemblyInput {
  const { flags, texts, numbers } = args;
  const one = (name: string) => texts[name]?.[0];
  const { "max-turns": maxTurns, "max-cost": maxCost, timeout: maxSeconds } = numbers;
  return {
    model: {
      name: one("model"),
      provider: one("provider"),
      apiKey: one("api-key"),
      thinkingLevel: one("thinking"),
    },
    session: {
      open: one("session"),
      fork: one("fork"),
      latest: flags.has("continue"),
      id: one("session-id"),
      unsaved: flags.has("no-session"),
      folder: one("session-dir"),
      name: one("name"),
    },
    tools: {
      list: texts.tools?.flatMap(splitToolList),
      exclude: texts["exclude-tools"]?.flatMap(splitToolList),
      // Extensions, whose tools would stay, are not built yet.
      none: flags.has("no-tools") || flags.has("no-builtin-tools"),
    },
    context: {
      systemPrompt: one("system-prompt"),
      append: texts["append-system-prompt"] ?? [],
      contextFiles: !flags.has("no-context-files"),
      skills: texts.skill ?? [],
      defaultSkills: !flags.has("no-skills"),
      templates: texts["prompt-template"] ?? [],
      defaultTemplates: !flags.has("no-prompt-templates"),
    },
    settings: { limits: { maxTurns, maxCost, maxSeconds }, permission: { mode: one("permission") } },
    approved: flags.has("approve") ? true : flags.has("no-approve") ? false : undefined,
    oneShot: args.mode !== "rpc",
  };
}
