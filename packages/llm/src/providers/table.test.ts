import { describe, expect, it } from "vitest";
import type { Model } from "../protocol/model.ts";
import { knownApis, stream } from "./table.ts";

const model = (more: Partial<Model>): Model => ({
  id: "m",
  name: "M",
  api: "openai-completions",
  provider: "vendor",
  baseUrl: "",
  reasoning: false,
  input: ["text"],
  cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
  contextWindow: 1000,
  maxTokens: 100,
  ...more,
});

const HI = { messages: [{ role: "user" as const, content: "hi", timestamp: 1 }] };

async function run(one: Model) {
  const types: string[] = [];
  const answering = stream(one, HI);
  for await (const event of answering) types.push(event.type);
  return { types, message: await answering.result() };
}

describe("stream", () => {
  it("E1 an unknown API is an error event with the remedy", async () => {
    const { types, message } = await run(model({ api: "carrier-pigeon" }));
    expect(types).toEqual(["start", "error"]);
    expect(message).toMatchObject({ stopReason: "error", errorKind: "invalid_request", api: "carrier-pigeon" });
    expect(message.errorMessage).toMatch(/carrier-pigeon.*models\.json.*openai-completions, anthropic-messages/);
  });

  it("E1 a missing key is an error event with the remedy, and nothing is sent", async () => {
    const { types, message } = await run(model({ baseUrl: "https://api.openai.com/v1" }));
    expect(types).toEqual(["start", "error"]);
    expect(message).toMatchObject({ errorKind: "auth", errorMessage: expect.stringMatching(/"vendor".*--api-key/) });
  });

  it("E1 never throws: a provider that breaks is an error event, the first time and later", async () => {
    const broken = model({});
    Object.defineProperty(broken, "baseUrl", {
      get: () => {
        throw new Error("broken model");
      },
    });
    for (let i = 0; i < 2; i += 1) {
      const { message } = await run(broken);
      expect(message).toMatchObject({ stopReason: "error", errorKind: "unknown", errorMessage: "broken model" });
    }
  });

  it("plays the scripted model, and can be left early", async () => {
    const answering = stream(model({ api: "scripted" }), HI);
    for await (const event of answering) if (event.type === "start") break;
    expect((await answering.result()).role).toBe("assistant");
    expect(knownApis()).toContain("scripted");
  });
});
