import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, it } from "vitest";
import { loadSettings } from "../settings/load-settings.ts";
import { discoverLocalServers } from "../settings/local-servers.ts";
import { ModelRegistry } from "../settings/model-registry.ts";
import { chooseModel } from "./choose-model.ts";

it("finds a server on loopback when nothing else is set up", async () => {
  const server = createServer((_, response) => response.end('{"data": [{"id": "small"}]}')).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  try {
    const { settings } = await loadSettings({ homeFile: "/nonexistent/settings.json" });
    const choice = await chooseModel({
      request: {},
      registry: new ModelRegistry({
        models: { providers: {}, sources: {}, warnings: [] },
        auth: { path: "", credentials: {}, secrets: [], warnings: [] },
        variables: {},
      }),
      settings,
      recorded: undefined,
      discover: () => discoverLocalServers([{ id: "ollama", name: "Ollama", port }]),
      warn: () => undefined,
    });
    expect(choice.model).toMatchObject({ provider: "ollama", id: "small", baseUrl: `http://127.0.0.1:${port}/v1` });
  } finally {
    server.close();
  }
});
