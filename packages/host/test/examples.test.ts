import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { reply, toolCall, wireServer } from "@tau/llm/testing";
import { afterEach, describe, expect, it } from "vitest";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

function tempDir(): string {
  const folder = mkdtempSync(join(tmpdir(), "tau-examples-"));
  folders.push(folder);
  return folder;
}

/** Runs an example as its head says, on the built packages, with a home of its own. */
function runExample(file: string, { args = [], env = {} }: { args?: string[]; env?: Record<string, string> } = {}) {
  const home = tempDir();
  const options = { cwd: root, env: { PATH: process.env.PATH ?? "", HOME: home, TMPDIR: home, ...env } };
  return new Promise<{ code: number; stdout: string; stderr: string }>((resolve) => {
    execFile(process.execPath, [`examples/${file}`, ...args], options, (error, stdout, stderr) =>
      resolve({ code: error ? Number(error.code) : 0, stdout, stderr }),
    );
  });
}

describe("the examples of docs/sdk.md", () => {
  it.each(["@tau/llm", "@tau/llm/testing", "@tau/agent", "@tau/host"])("%s loads in plain Node", async (name) => {
    const code = `import(${JSON.stringify(name)}).then((found) => console.log(Object.keys(found).length > 5))`;
    const { stdout, stderr } = await new Promise<{ stdout: string; stderr: string }>((resolve) => {
      execFile(process.execPath, ["-e", code], { cwd: root }, (_error, stdout, stderr) => resolve({ stdout, stderr }));
    });
    expect([stdout, stderr]).toEqual(["true\n", ""]);
  });

  it("01 asks one question and shows what happens", async () => {
    expect(await runExample("01-one-question.mjs")).toEqual({
      code: 0,
      stderr: "",
      stdout: [
        "I look into package.json.",
        '[read {"path":"package.json"}]',
        "[ok]",
        "It wants Node 20.19 or newer.",
        "outcome: done\n",
      ].join("\n"),
    });
  });

  it("02 answers a question of the gate and steers by next(input) (L6)", async () => {
    expect(await runExample("02-own-tool-and-approval.mjs")).toEqual({
      code: 0,
      stderr: "",
      stdout: [
        "deploy to production? no",
        "deploy to staging? yes",
        "staging has version 1.4",
        "Staging has version 1.4; production was left alone.",
        "outcome: done\n",
      ].join("\n"),
    });
  });

  it("03 takes a session up again from its file", async () => {
    expect(await runExample("03-resume-a-session.mjs")).toEqual({
      code: 0,
      stderr: "",
      stdout: [
        "> The code word is heron. Keep it in mind.",
        "I keep it in mind: the code word is heron.",
        "(a session has one writer: it cannot be opened twice)",
        "(opened again with 2 messages)",
        "> What is the code word?",
        "The code word is heron.",
        "(2 questions in the file)\n",
      ].join("\n"),
    });
  });

  const real: { file: string; steps: ReturnType<typeof reply>[]; last: string }[] = [
    {
      file: "01-one-question.mjs",
      steps: [reply(toolCall("ls", { path: "." })), reply("Node 20.")],
      last: "outcome: done",
    },
    {
      file: "02-own-tool-and-approval.mjs",
      steps: [reply(toolCall("deploy", { target: "staging" })), reply("Staging only.")],
      last: "outcome: done",
    },
    {
      file: "03-resume-a-session.mjs",
      steps: [reply("Kept."), reply("It is heron.")],
      last: "(2 questions in the file)",
    },
  ];
  it.each(real)("$file runs with a model over the network, named by its argument", async ({ file, steps, last }) => {
    const server = await wireServer({ steps });
    const tauDir = tempDir();
    const provider = { baseUrl: `${server.url}/v1`, api: "openai-completions", apiKey: "$LOCAL_KEY" };
    const models = [{ id: "local-one", contextWindow: 32_000 }];
    writeFileSync(join(tauDir, "models.json"), JSON.stringify({ providers: { loopback: { ...provider, models } } }));
    const env = { TAU_DIR: tauDir, LOCAL_KEY: "key" };
    const { code, stdout, stderr } = await runExample(file, { args: ["loopback/local-one"], env });
    await server.close();
    server.assertDone();
    expect([code, stderr, stdout.trimEnd().split("\n").at(-1)]).toEqual([0, "", last]);
  });

  it("a model without a key is reported with the remedy", async () => {
    const { code, stdout } = await runExample("01-one-question.mjs", { args: ["anthropic/claude-sonnet-4-5"] });
    expect(code).toBe(1);
    expect(stdout).toMatch(/^outcome: error: .*ANTHROPIC_API_KEY/m);
  });
});
