import { describe, expect, it } from "vitest";
import { readArgs } from "./args.ts";
import { commandIn } from "./command-words.ts";

describe("the first word of an invocation", () => {
  it.each([
    [["demo"], "demo"],
    [["demo", "loop"], "demo"],
    [["sessions"], "sessions"],
    [["sessions", "a parser", "--json"], "sessions"],
    [["help"], "help"],
    [["version"], "version"],
  ])("R269 is the command of %j", (argv, name) => expect(commandIn(argv)).toBe(name));

  it.each([
    [["login"]],
    [["login", "anthropic"]],
    [["install", "npm:x"]],
    [["install", "./extension", "-l"]],
    [["remove", "git:github.com/a/b@v1"]],
    [["update"]],
    [["mcp", "list"]],
    [["mcp", "add", "docs", "--url", "http://x"]],
    [["trust", "."]],
    [["permissions", "remove", "2"]],
    [["acp"]],
    [["config"]],
  ])("R269 is reserved in %j", (argv) => expect(() => commandIn(argv)).toThrow(/^tau \w+ is not available yet/));

  it.each([
    [["sesions"], "sessions"],
    [["sessoins", "parser"], "sessions"],
    [["isntall", "npm:x"], "install"],
    [["lgoin"], "login"],
    [["hlep"], "help"],
    [["permisions"], "permissions"],
  ])("R269 is refused with the nearest command when it is mistyped: %j", (argv, near) => {
    expect(() => commandIn(argv)).toThrow(`did you mean tau ${near}? To send it as a prompt: tau -p "${argv[0]}`);
  });

  it.each([
    [["-p", "login"]],
    [["login", "-p"]],
    [["sessions", "--mode", "json"]],
    [["--", "login"]],
    [["help me with the build"]],
    [["help", "me", "with", "it"]],
    [["install", "the", "dependencies"]],
    [["list", "all", "files"]],
    [["mcp", "is", "what?"]],
    [["Login"]],
    [["hello"]],
    [["test"]],
    [["explain"]],
    [["listing"]],
    [["toString"]],
    [["why?"]],
    [[]],
  ])("R269 begins a prompt in %j", (argv) => expect(commandIn(argv)).toBeUndefined());

  it("R269 help and version are the options of these names", () => {
    expect(readArgs(["help"])).toMatchObject({ help: true, messages: [] });
    expect(readArgs(["version"])).toMatchObject({ version: true });
  });
});

describe("short options", () => {
  it.each([
    ["-nbt", ["no-builtin-tools"]],
    ["-nt", ["no-tools"]],
    ["-pc", ["print", "continue"]],
  ])("R270 %s means what the help says", (word, flags) => {
    expect([...readArgs([word, "x"]).flags]).toEqual(flags);
  });

  it.each([["-nbx"], ["-nfoo"], ["-tread"], ["-ntx"], ["-pn"], ["-xtbash"]])(
    "R270 %s takes no value that is glued on",
    (word) => expect(() => readArgs([word, "x"])).toThrow(`unknown option ${word}`),
  );

  it("R270 names the near spelling of a short option", () => {
    expect(() => readArgs(["-nbtt"])).toThrow("did you mean -nbt?");
  });

  it("R270 a value of several words may begin with a dash", () => {
    expect(readArgs(["--append-system-prompt", "-be brief", "x"]).texts["append-system-prompt"]).toEqual(["-be brief"]);
  });
});
