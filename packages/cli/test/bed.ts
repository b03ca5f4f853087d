import { readdirSync } from "node:fs";
import { join } from "node:path";
import { toolCall, type WireReply, type WireServer, type WireServerOptions, wireServer } from "@tau/llm/testing";
import { afterEach, beforeEach } from "vitest";
import { Tau } from "./tau.ts";

/** One machine and one model server a test; both are gone after it. */
export interface Bed {
  readonly tau: Tau;
  /** Starts the server and makes it model `mock/m`; `more` goes into the model. */
  serve(steps: WireServerOptions["steps"], more?: object): Promise<WireServer>;
  /** All session files. */
  sessionFiles(): string[];
}

export const MODEL = ["--model", "mock/m"];
export const answer = (text: string): WireReply => ({ content: [text] });
export const bash = (command: string): WireReply => ({ content: [toolCall("bash", { command })] });

/** Makes a bed for each test of the file. */
export function testBed(): Bed {
  let tau: Tau | undefined;
  let server: WireServer | undefined;
  const current = () => {
    if (!tau) throw new Error("a bed is there during a test only");
    return tau;
  };
  beforeEach(() => {
    tau = new Tau();
  });
  afterEach(async () => {
    await server?.close();
    server = undefined;
    tau?.remove();
  });
  return {
    get tau() {
      return current();
    },
    async serve(steps, more = {}) {
      server = await wireServer({ steps });
      current().useServer(server.url, more);
      return server;
    },
    sessionFiles() {
      const folder = join(current().tauDir, "sessions");
      return readdirSync(folder, { recursive: true, encoding: "utf8" })
        .filter((name) => name.endsWith(".jsonl"))
        .map((name) => join(folder, name));
    },
  };
}

interface Sent {
  messages: { role: string; content: unknown }[];
  tools: { function: { name: string } }[];
}

/** The body of request n. */
export function sent(mock: WireServer, index: number): Sent {
  const request = mock.requests.at(index);
  if (!request) throw new Error(`there was no request ${index}`);
  return request.body as unknown as Sent;
}

/** The texts of the system prompt and of the last user message of request n. */
export function said(mock: WireServer, index: number) {
  const { messages } = sent(mock, index);
  const text = (content: unknown) => (typeof content === "string" ? content : JSON.stringify(content));
  return {
    system: text(messages.find(({ role }) => role === "system")?.content),
    user: text(messages.findLast(({ role }) => role === "user")?.content),
    count: messages.length,
  };
}
