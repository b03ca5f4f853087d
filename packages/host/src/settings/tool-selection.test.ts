import { describe, expect, it } from "vitest";
import { selectTools, splitToolList, type ToolSelection } from "./tool-selection.ts";

const available = ["read", "bash", "edit", "write", "grep", "find", "ls"];
const defaults = ["read", "bash", "edit", "write"];
const select = (more: Partial<ToolSelection> = {}) =>
  selectTools({ available, defaults, layers: [], ...more }).names.join();

describe("selectTools", () => {
  it.each<[string, Partial<ToolSelection>]>([
    ["read,bash,edit,write", {}],
    ["read,grep", { list: ["grep", "read"] }],
    ["read,bash,edit,grep", { list: ["+grep", "-write"] }],
    ["read,bash,grep", { layers: [["bash", "grep"], ["+read"]] }],
    ["read", { layers: [["bash"]], list: ["read"] }],
    ["read,edit,write", { exclude: ["bash"] }],
    ["bash,edit,write", { exclude: ["r*"] }],
    ["", { none: true, list: ["read"] }],
    ["", { layers: [[]] }],
    ["read,bash,edit,write,grep,find,ls", { list: ["*"] }],
  ])("gives %j", (expected, selection) => {
    expect(select(selection)).toBe(expected);
  });

  it("refuses a name that does not exist, with the near one and the list", () => {
    expect(() => select({ list: ["reed"] })).toThrow('unknown tool "reed": did you mean read? Available tools: read');
    expect(() => select({ exclude: ["bahs"] })).toThrow('unknown tool "bahs": did you mean bash?');
    expect(() => select({ list: ["web_search", "zzz"] })).toThrow('unknown tool "web_search". Available tools: read');
  });

  it.each<[string, Partial<ToolSelection>, RegExp]>([
    [
      "read,bash,edit,write",
      { layers: [["+codemode"]] },
      /defaultTools: there is no tool "codemode", .*there are read/,
    ],
    ["read,bash,edit,write", { layers: [["-codemode", "+reed"]] }, /"codemode"[\s\S]*"reed".*did you mean read\?/],
    ["read,bash", { layers: [["read", "codemode", "bash"]] }, /"codemode"/],
    ["read", { list: ["read", "web_search"] }, /--tools: there is no tool "web_search"/],
    ["read,bash,edit,write", { list: ["read", "+web_search", "bash", "edit", "write"] }, /"web_search"/],
    ["read,bash,edit,write", { exclude: ["nosuch"] }, /--exclude-tools: there is no tool "nosuch"/],
    ["read,edit,write", { exclude: ["nosuch", "bash"] }, /"nosuch"/],
  ])("R271 gives %s for %j, with a warning for what does not exist", (expected, selection, warning) => {
    expect(select(selection)).toBe(expected);
    expect(selectTools({ available, defaults, layers: [], ...selection }).warnings.join("\n")).toMatch(warning);
  });

  it("splits a list at commas", () => {
    expect(splitToolList(" read, bash,,")).toEqual(["read", "bash"]);
  });
});
