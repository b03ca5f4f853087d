import { wireServer } from "@tau/llm/testing";
import { expect, it } from "vitest";
import { answer, testBed } from "./bed.ts";

const bed = testBed();

it.each([
  ["OPENAI_BASE_URL", "openai", "OPENAI_API_KEY", "/v1", "/v1/responses", "gpt-4.1"],
  ["ANTHROPIC_BASE_URL", "anthropic", "ANTHROPIC_API_KEY", "/", "/v1/messages", "claude-sonnet-5-5"],
])("R267 %s moves %s, which is said", async (variable, provider, keyName, path, endpoint, id) => {
  const server = await wireServer({ steps: () => answer("from the gateway") });
  const env = { [variable]: `${server.url}${path}`, [keyName]: "the-key-of-the-user" };
  try {
    const { code, stdout, stderr } = await bed.tau.run(["-p", "--model", `${provider}/${id}`, "x"], { env });
    expect([code, stdout]).toEqual([0, "from the gateway\n"]);
    expect(stderr).toContain(`${provider} is asked at ${new URL(server.url).host}, as ${variable} says`);
    expect(server.requests.map((request) => request.path)).toEqual([endpoint]);
    bed.tau.file("home/.tau/models.json", { providers: { [provider]: { baseUrl: `${server.url}/own/v1` } } });
    const own = await bed.tau.run(["-p", "--model", `${provider}/${id}`, "x"], { env });
    expect(own.stderr).not.toContain(variable);
    const other = await bed.tau.run(["-p", "--model", "scripted/demo", "x"], { env });
    expect(other.stderr).not.toContain(variable);
  } finally {
    await server.close();
  }
});

it("R267 an address that is none is told", async () => {
  const env = { OPENAI_BASE_URL: "gateway", OPENAI_API_KEY: "k" };
  const { stderr } = await bed.tau.run(["-p", "--model", "scripted/demo", "x"], { env });
  expect(stderr).toContain("OPENAI_BASE_URL is not used: it must be a URL such as");
});
