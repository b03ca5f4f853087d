import { describe, expect, it } from "vitest";
import { readArgs } from "./args.ts";
import { helpText } from "./help.ts";
import { OPTIONS } from "./options.ts";

describe("readArgs", () => {
  it("tells options, files and messages apart", () => {
    const args = readArgs(["-p", "@a.txt", "--model", "m/x:high", "do it", "then this", "-c", "--max-turns=3"]);
    expect(args).toMatchObject({
      print: true,
      files: ["a.txt"],
      messages: ["do it", "then this"],
      texts: { model: ["m/x:high"] },
      numbers: { "max-turns": 3 },
    });
    expect(args.flags.has("continue")).toBe(true);
  });

  it("takes everything behind -- as words, files included", () => {
    expect(readArgs(["-p", "--", "--model", "@f", "-x"])).toMatchObject({
      messages: ["--model", "-x"],
      files: ["f"],
      texts: {},
    });
  });

  it("knows pi's short forms and grouped letters", () => {
    const args = readArgs(["-pc", "-nt", "-nc", "-n", "my name", "-xt", "bash"]);
    expect([...args.flags].sort()).toEqual(["continue", "no-context-files", "no-tools", "print"]);
    expect(args.texts).toEqual({ name: ["my name"], "exclude-tools": ["bash"] });
  });

  it("collects options that may be repeated, and takes the last of the others", () => {
    const args = readArgs([
      "--append-system-prompt",
      "- be brief",
      "--append-system-prompt",
      "b",
      "--model",
      "x",
      "--model",
      "y",
    ]);
    expect(args.texts).toEqual({ "append-system-prompt": ["- be brief", "b"], model: ["y"] });
  });

  it("reads --list-models with and without a search", () => {
    expect(readArgs(["--list-models"]).listModels).toBe("");
    expect(readArgs(["--list-models", "qwen"])).toMatchObject({ listModels: "qwen", messages: [] });
    expect(readArgs(["--list-models=qwen"]).listModels).toBe("qwen");
    expect(readArgs(["x"]).listModels).toBe(undefined);
  });

  it("reads --export with and without a place for it", () => {
    expect(readArgs(["--export", "a"]).exported).toEqual({ from: "a", to: undefined });
    expect(readArgs(["--export", "a", "-"])).toMatchObject({ exported: { from: "a", to: "-" }, messages: [] });
    expect(readArgs(["--export", "a", "@b.md"])).toMatchObject({ exported: { from: "a", to: "@b.md" }, files: [] });
    expect(readArgs(["x"]).exported).toBe(undefined);
  });

  it("takes a command word only in first place", () => {
    expect(readArgs(["demo"]).command).toBe("demo");
    expect(readArgs(["-p", "demo"])).toMatchObject({ command: undefined, messages: ["demo"] });
    expect(readArgs(["toString"]).messages).toEqual(["toString"]);
  });

  it.each([
    [["--modle", "x"], "unknown option --modle: did you mean --model?"],
    [["-z"], "unknown option -z: see tau --help."],
    [["--qwertyuiop"], "unknown option --qwertyuiop: see tau --help."],
    [["--model"], "--model needs a value: --model <model>"],
    [["--name", "--model", "x"], "--name needs a value"],
    [["--print=yes"], '--print takes no value; leave out "=yes"'],
    [["--thinking", "lots"], "--thinking must be one of off, minimal"],
    [["--max-turns", "0"], "--max-turns must be a whole number of at least 1"],
    [["--max-turns", "1.5"], "--max-turns must be a whole number"],
    [["--max-turns", "ten"], "--max-turns must be a whole number"],
    [["--max-cost", "-1"], "--max-cost must be a number above 0"],
    [["--max-cost", "1e3"], "--max-cost must be a number"],
    [["--timeout", ""], "--timeout must be a number"],
    [["--timeout", "10m"], '--timeout must be a number of at least 0, not "10m": --timeout <seconds>'],
    [["--mode", "xml"], "--mode must be one of text, json, rpc"],
    [["acp"], "tau acp is not available yet"],
    [["--sandbox"], "--sandbox is not available yet"],
    [["--export"], "--export needs a value: --export <in> [out]"],
    [["--export", "a", "b", "c"], "--export takes one session and one file"],
    [["--export", "a", "-p"], "--export and --print cannot go together"],
    [["-e", "x.ts"], "--extension is not available yet"],
    [["--permission", "ask"], "--permission ask is not available yet"],
    [["--fork", "a", "--continue"], "--fork and --continue cannot go together"],
    [["--session-id", "a", "--session", "b"], "--session-id and --session cannot go together"],
    [["--session="], "--session needs a value, and this one is empty: --session <path|id>"],
    [["--model", " "], "--model needs a value, and this one is empty"],
    [["-t", ""], "--tools needs a value, and this one is empty: --tools <list>"],
    [["-xt", ""], "--exclude-tools needs a value, and this one is empty"],
    [["-n", ""], "--name needs a value, and this one is empty"],
    [["--tools", "a", "--no-tools"], "--no-tools and --tools cannot go together"],
  ])("refuses %j with the remedy", (argv, text) => {
    expect(() => readArgs(argv)).toThrow(text);
  });

  it("says how a prompt that begins with a dash is given", () => {
    expect(() => readArgs(["-p", "-fix it"])).toThrow('A prompt that begins with a dash goes after "--".');
  });
});

describe("helpText", () => {
  it("names every option that exists, none that does not, and the exit codes, in lines of 120 columns", () => {
    const text = helpText();
    for (const option of OPTIONS) expect(text.includes(`--${option.name}`)).toBe(!option.later);
    expect(text).toContain("3 a limit was reached");
    expect(Math.max(...text.split("\n").map((line) => line.length))).toBeLessThanOrEqual(120);
  });
});
