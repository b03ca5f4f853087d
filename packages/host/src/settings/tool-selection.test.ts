import { describe, expect, it } from "vitest";
import { selectTools, splitToolList, type ToolSelection } from "./tool-selection.ts";

const available = ["read", "bash", "edit", "write", "grep", "find", "ls"];
const defaults = ["read", "bash", "edit", "write"];
const select = (more: Partial<ToolSelection> = {}) => selectTools({ available, defaults, layers: [], ...more }).join();

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
    expect(() => select({ list: ["reed"] })).toThrow('unknown tool "reed": did you mean read? There are read, bash');
    expect(() => select({ exclude: ["zzz"] })).toThrow('unknown tool "zzz": There are');
  });

  it("splits a list at commas", () => {
    expect(splitToolList(" read, bash,,")).toEqual(["read", "bash"]);
  });
});
