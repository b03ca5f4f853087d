import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { answer, bash, MODEL, testBed } from "./bed.ts";
import { ended } from "./tau.ts";

const bed = testBed();
const SECRET = "s3cr3t-value-of-the-user";

describe("R309 keys are not where other processes look", () => {
  it.each([
    ["OPENAI_API_KEY", {}],
    ["GITHUB_TOKEN", {}],
    ["MY_LOGIN", { apiKey: "$MY_LOGIN" }],
  ])("the variable %s is not in the block of the process", async (name, more) => {
    const server = await bed.serve([bash("cat /proc/$PPID/environ > block"), answer("ok")]);
    const mock = { baseUrl: `${server.url}/v1`, api: "openai-completions", apiKey: "k", models: ["m"], ...more };
    bed.tau.file("home/.tau/models.json", { providers: { mock } });
    const env = { [name]: SECRET, HARMLESS: "stays", EMPTY_API_KEY: "" };
    const { code } = await bed.tau.run(["-p", ...MODEL, "x"], { env });
    const block = readFileSync(join(bed.tau.cwd, "block"), "latin1");
    expect(code).toBe(0);
    expect(block).not.toContain(SECRET);
    expect(block).toContain(`${name}=***`);
    expect(block).toContain("HARMLESS=stays\0");
    const key = "apiKey" in more ? SECRET : "k";
    expect(server.requests.map(({ headers }) => headers.authorization)).toEqual([`Bearer ${key}`, `Bearer ${key}`]);
  });

  it("a variable of keepEnv stays, since commands have it", async () => {
    await bed.serve([bash("cat /proc/$PPID/environ > block"), answer("ok")]);
    bed.tau.file("home/.tau/settings.json", { keepEnv: ["GH_*"] });
    await bed.tau.run(["-p", ...MODEL, "x"], { env: { GH_TOKEN: SECRET } });
    expect(readFileSync(join(bed.tau.cwd, "block"), "latin1")).toContain(`GH_TOKEN=${SECRET}`);
  });

  it.each([[["--api-key", SECRET]], [[`--api-key=${SECRET}`]]])("%j is not in the process list", async (given) => {
    const server = await bed.serve([bash("cat /proc/$PPID/cmdline > block"), answer("ok")]);
    await bed.tau.run(["-p", ...MODEL, ...given, "x"]);
    const block = readFileSync(join(bed.tau.cwd, "block"), "latin1");
    expect(block).toContain("--api-key");
    expect(block).not.toContain(SECRET);
    expect(block).toMatch(/\0x\0$/);
    expect(server.requests[0]?.headers.authorization).toBe(`Bearer ${SECRET}`);
  });

  it("SIGUSR1 opens no inspector and ends nothing", async () => {
    await bed.serve([bash("kill -USR1 $PPID; kill -USR1 $PPID"), answer("still here")]);
    const { code, stdout, stderr } = await bed.tau.run(["-p", ...MODEL, "x"]);
    expect([code, stdout]).toEqual([0, "still here\n"]);
    expect(stderr).not.toMatch(/Debugger|inspector/i);
  });
});

describe("R309 what is shown has no secrets", () => {
  it("models of RPC have neither the values of headers nor the secrets of an address", async () => {
    bed.tau.file("home/.tau/models.json", {
      providers: {
        mock: {
          baseUrl: `http://user:${SECRET}@127.0.0.1:1/v1?key=${SECRET}`,
          api: "openai-completions",
          apiKey: "k",
          headers: { "X-Team": SECRET },
          models: [{ id: "m", headers: { "X-Plain": "plain" } }, { id: "n" }],
        },
      },
    });
    const child = bed.tau.start(["--mode", "rpc", ...MODEL], { openStdin: true });
    const end = ended(child);
    const commands = [
      { type: "get_state" },
      { type: "get_available_models" },
      { type: "set_model", provider: "mock", modelId: "n" },
      { type: "cycle_model" },
    ];
    child.stdin?.end(commands.map((command) => `${JSON.stringify(command)}\n`).join(""));
    const { stdout, records } = await end;
    const answers = records().filter(({ type }) => type === "response");
    expect(answers.map(({ success }) => success)).toEqual([true, true, true, true]);
    expect(answers[0].data.model).toMatchObject({
      baseUrl: "http://user:[secret]@127.0.0.1:1/v1?key=[secret]",
      headers: { "X-Team": "[secret]" },
    });
    expect(stdout).not.toContain(SECRET);
    expect(stdout).not.toContain('"plain"');
  });

  it.each([
    ["the password of a provider's address", `http://user:${SECRET}@127.0.0.1:1/v1`, {}],
    ["a key in a provider's address", `http://127.0.0.1:1/v1?key=${SECRET}`, {}],
    ["the password of a proxy", "http://127.0.0.1:1/v1", { HTTPS_PROXY: `http://user:${SECRET}@127.0.0.1:1` }],
  ])("%s is masked in results", async (_title, baseUrl, env) => {
    const server = await bed.serve([bash(`echo "it is ${SECRET}"`), answer(`said ${SECRET}`)]);
    const mock = { baseUrl: `${server.url}/v1`, api: "openai-completions", apiKey: "k", models: ["m"] };
    bed.tau.file("home/.tau/models.json", { providers: { mock, other: { ...mock, baseUrl } } });
    const { stdout } = await bed.tau.run(["-p", ...MODEL, "x"], { env });
    expect(JSON.stringify(server.requests[1]?.body)).toContain("it is [secret]");
    expect(stdout).toBe("said [secret]\n");
  });

  it("a server that cannot be reached is named without its password", async () => {
    const mock = {
      baseUrl: `http://user:${SECRET}@127.0.0.1:1/v1?key=${SECRET}`,
      api: "openai-completions",
      apiKey: "k",
      models: ["m"],
    };
    bed.tau.file("home/.tau/models.json", { providers: { mock } });
    bed.tau.file("home/.tau/settings.json", { retry: { enabled: false } });
    const { code, stderr } = await bed.tau.run(["-p", ...MODEL, "x"]);
    expect([code, stderr]).toEqual([1, expect.not.stringContaining(SECRET)]);
  });
});

describe("R310 what a server or a file names", () => {
  it("model ids reach the terminal without control characters", async () => {
    const mock = { baseUrl: "http://127.0.0.1:1/v1", api: "openai-completions", apiKey: "k" };
    const ids = ["a\x1b[31mred", "b\nfake/row  1M", "c\x9b2Jd", "e\u202egpj"];
    bed.tau.file("home/.tau/models.json", { providers: { mock: { ...mock, models: ids.map((id) => ({ id })) } } });
    const { stdout } = await bed.tau.run(["--list-models"]);
    expect(stdout).not.toMatch(/[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e]/);
    expect(
      stdout
        .trimEnd()
        .split("\n")
        .map((line) => line.split(" ")[0]),
    ).toEqual(["model", "mock/ared", "mock/b", expect.stringMatching(/^mock\/c/), "mock/egpj", "scripted/demo"]);
  });
});
