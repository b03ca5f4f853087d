import { afterEach, describe, expect, it } from "vitest";
import type { AssistantMessage, Message } from "../../protocol/message.ts";
import type { Model } from "../../protocol/model.ts";
import { reply, scriptedModel, thinking, toolCall, type WireServer, wireServer } from "../../testing.ts";
import { stream } from "../table.ts";

const servers: WireServer[] = [];
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()));
});

const tools = [{ name: "a.b c/ü", description: "d", parameters: { type: "object", properties: {} } }];

async function model(more: Partial<Model>, rules: { toolIdPattern?: string } = {}): Promise<Model> {
  const server = await wireServer({
    steps: (_request, index) =>
      reply(
        thinking(`thought ${more.id}`, `sig ${more.id} ${index}`),
        "I look.",
        toolCall(
          "x",
          { index },
          `call_${more.id}_fc_${index}_${"x".repeat(more.api === "openai-completions" ? 20 : 40)}`,
        ),
      ),
    strict: rules,
    checkSignatures: true,
  });
  servers.push(server);
  return scriptedModel({ reasoning: true, baseUrl: `${server.url}/v1`, ...more });
}

async function turn(to: Model, messages: Message[]): Promise<AssistantMessage> {
  const message = await stream(to, { systemPrompt: "p", tools, messages }, { apiKey: `key-of-${to.id}` }).result();
  messages.push(message);
  for (const block of message.content) {
    if (block.type !== "toolCall") continue;
    const content = [{ type: "text" as const, text: "ok" }];
    messages.push({
      role: "toolResult",
      toolCallId: block.id,
      toolName: block.name,
      content,
      isError: false,
      timestamp: 0,
    });
  }
  return message;
}

describe("a conversation over several models", () => {
  it("R029 goes back and forth between APIs, providers and models that check signatures and ids", async () => {
    const models = [
      await model({ id: "one", provider: "anthropic", api: "anthropic-messages" }),
      await model({ id: "two", provider: "openai", api: "openai-completions" }),
      await model({ id: "three", provider: "anthropic", api: "anthropic-messages" }),
      await model(
        { id: "four", provider: "mistral", api: "openai-completions", compat: { requiresMistralToolIds: true } },
        { toolIdPattern: "^[A-Za-z0-9]{9}$" },
      ),
      await model({ id: "five", provider: "openai", api: "openai-responses" }),
      await model({ id: "six", provider: "openai", api: "openai-responses" }),
    ];
    const messages: Message[] = [{ role: "user", content: "go", timestamp: 0 }];
    for (const at of [0, 1, 2, 3, 0, 2, 1, 3, 0, 0, 1, 4, 4, 0, 4, 5, 5, 1, 4, 3, 5]) {
      const to = models[at];
      if (!to) throw new Error("no model");
      // A process that resumes the session has other objects with the same content.
      const sent = at === 2 ? structuredClone(messages) : messages;
      const message = await turn(to, sent);
      if (sent !== messages) messages.push(...sent.slice(messages.length));
      expect(message.errorMessage).toBeUndefined();
      expect(message).toMatchObject({ stopReason: "toolUse", provider: to.provider });
    }
    for (const server of servers) server.assertDone();
  });

  it("R030 each request goes to its model's server with that model's key", async () => {
    const one = await model({ id: "one", provider: "anthropic", api: "anthropic-messages" });
    const two = await model({ id: "two", provider: "local", api: "openai-completions" });
    const messages: Message[] = [{ role: "user", content: "go", timestamp: 0 }];
    for (const to of [one, two, one]) await turn(to, messages);
    const keys = servers.map(({ requests }) =>
      requests.map(({ headers }) => headers["x-api-key"] ?? headers.authorization),
    );
    expect(keys).toEqual([["key-of-one", "key-of-one"], ["Bearer key-of-two"]]);
  });
});
