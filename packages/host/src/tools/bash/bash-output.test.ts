import { describe, expect, it } from "vitest";
import { runTool, tempFiles, workbench } from "../__fixtures__/workbench.ts";
import { createBashTool } from "./bash-tool.ts";

function bash(command: string, bench = workbench(), timeout?: number) {
  return runTool(createBashTool(bench), timeout === undefined ? { command } : { command, timeout });
}

describe("bash: floods", () => {
  it("R073 ten floods at once stay in bounded memory", async () => {
    const bench = workbench();
    const rss = () => process.memoryUsage().rss;
    const before = rss();
    const runs = await Promise.all(Array.from({ length: 10 }, () => bash("head -c 60M /dev/zero", bench)));
    expect(rss() - before).toBeLessThan(50 * 1024 * 1024);
    for (const run of runs) expect(run.details.outputBytes).toBe(60 * 1024 * 1024);
  });

  it("R073 an endless output ends at the time-out; head and tail are kept, the rest is counted", async () => {
    const bench = workbench();
    const run = await bash("yes", bench, 0.5);
    expect(run.text).toMatch(/^y\ny\n[\s\S]*\d+ bytes left out here[\s\S]*\ny\n\n\[timed out after 0.5 s, killed/);
    expect(Buffer.byteLength(run.text)).toBeLessThan(52 * 1024);
    expect(tempFiles(bench)).toHaveLength(1);
  });
});

describe("bash: odd bytes", () => {
  it.each([
    ["legacy code page", String.raw`printf '\xb3\xc9\xb9\xa6 ok'`, "\ufffd\u0279\ufffd ok"],
    ["invalid bytes", String.raw`printf '\xff\xfe'`, "\ufffd\ufffd"],
    ["a character written byte by byte", String.raw`for b in f0 9f 98 80; do printf "\x$b"; done; echo !`, "😀!"],
    ["half a character", String.raw`printf 'a\xe2\x82'`, "a\ufffd"],
  ])("R078 %s comes as text", async (_name, command, expected) => {
    expect((await bash(command, workbench())).text).toBe(expected);
  });

  it("R078 cuts no character where it leaves out the middle", async () => {
    const run = await bash("python3 -c 'print(\"😀\"*200000)'", workbench());
    expect(run.text).not.toContain("\ufffd");
    expect(run.text).toContain("bytes left out here");
  });

  it.each([
    [String.raw`printf '\e[2J\e]0;a b\x07x\e]52;c;aGk=\x07\e[?1049h\ecy'`, "xy"],
    [String.raw`printf '\x9b31mred\x9b0m'`, "red"],
    [String.raw`printf 'a\rb'`, "b"],
    [String.raw`printf 'a\bb\n_\bu\007\0z'`, "b\nuz"],
    [String.raw`for i in 1 50 100; do printf '\r%d%%' $i; done; printf '\ndone\r\n'`, "100%\ndone"],
  ])("R135 %s reaches the model as plain text", async (command, expected) => {
    expect((await bash(command, workbench())).text).toBe(expected);
  });
});
