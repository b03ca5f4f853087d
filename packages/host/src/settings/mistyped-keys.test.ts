import { describe, expect, it } from "vitest";
import { mergeSettings } from "./load-settings.ts";
import { SETTING_ROWS } from "./settings-table.ts";

const warningsOf = (values: Record<string, unknown>) => mergeSettings([{ source: "s.json", values }]).warnings;

/** Settings of pi that tau has no use for; a shared file must not be full of warnings. */
const FOREIGN = {
  ...{ modelThinkingLevels: {}, thinkingBudgets: {}, enabledModels: [], hideThinkingBlock: true, cacheWarming: "off" },
  ...{
    externalEditor: "vi",
    doubleEscapeAction: "tree",
    treeFilterMode: "all",
    defaultProjectTrust: "ask",
    theme: "x",
  },
  ...{ quietStartup: true, tuiMode: "regular", editorPaddingX: 0, outputPad: 1, transport: "sse", npmCommand: [] },
  ...{ packages: [], extensions: [], themes: [], enableSkillCommands: true, collapseChangelog: true, codemode: {} },
  ...{ sessionShareDestination: "auto", websocketConnectTimeoutMs: 1, selfUpdateCommand: [], showHardwareCursor: true },
  ...{ branchSummary: {}, terminal: {}, markdown: {}, warnings: {}, enableAnalytics: false, autocompleteMaxVisible: 5 },
  compaction: { modelOverrides: {} },
  retry: { provider: {} },
  $schema: "x",
};

describe("mistypedKeys", () => {
  it.each([
    [{ defaultModle: "a" }, '"defaultModle" is not a setting and is ignored; did you mean "defaultModel"?'],
    [{ DefaultProvider: "a" }, 'did you mean "defaultProvider"'],
    [
      { compaction: { reserveToken: 1 } },
      '"compaction.reserveToken" is not a setting and is ignored; did you mean "compaction',
    ],
    [{ compactoin: { enabled: false } }, 'did you mean "compaction"'],
    [{ "compaction.keepRecentTokens": 1 }, '"compaction.keepRecentTokens" ({"compaction": {"keepRecentTokens": …}})?'],
    [{ maxTurns: 3 }, '"limits.maxTurns" ({"limits": {"maxTurns": …}})'],
    [{ retry: { steeringMode: "all" } }, 'did you mean "steeringMode"?'],
    [{ skill: ["x"] }, 'did you mean "skills"'],
  ])("names what %j most likely means, once", (values, text) => {
    expect(warningsOf(values)).toEqual([expect.stringContaining(text)]);
  });

  it("leaves known keys, aliases and pi's other settings alone", () => {
    expect(warningsOf(FOREIGN)).toEqual([]);
    expect(warningsOf({ httpIdleTimeoutMs: 5, retry: { maxAgentDelayMs: 5 } })).toEqual([]);
    const groups = [...new Set(SETTING_ROWS.map(({ key }) => key.split(".")[0] ?? ""))];
    expect(warningsOf(Object.fromEntries(groups.map((group) => [group, null])))).toEqual([]);
  });
});
