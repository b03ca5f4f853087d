import { PassThrough } from "node:stream";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { APIS, type Api, readStream, said, TOOLS, wireOf } from "../__fixtures__/read-reply.ts";

// The clock is ours: silence of seconds costs none.
beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date"] });
});
afterEach(() => {
  vi.useRealTimers();
});

type Step = string | { silence: number } | { pings: number };

const PING: Record<Api, string> = {
  "openai-completions": ": ping\n\n",
  "anthropic-messages": 'event: ping\ndata: {"type":"ping"}\n\n',
  "openai-responses": 'event: keepalive\ndata: {"type":"keepalive"}\n\n',
};

const settled = async () => {
  for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
};

/** Plays a server that never ends its body; gives the reply, and the seconds that it took on our clock. */
async function play(api: Api, steps: readonly Step[]) {
  const source = new PassThrough();
  const began = Date.now();
  let seconds: number | undefined;
  const reading = readStream(api, source, TOOLS, 120_000).finally(() => {
    seconds = (Date.now() - began) / 1000;
  });
  for (const step of steps) {
    await settled();
    if (seconds !== undefined) break;
    if (typeof step === "string") source.write(step);
    else if ("silence" in step) await vi.advanceTimersByTimeAsync(step.silence * 1000);
    else {
      for (let second = 0; second < step.pings && seconds === undefined; second += 1) {
        source.write(PING[api]);
        await settled();
        await vi.advanceTimersByTimeAsync(1000);
      }
    }
  }
  await settled();
  for (let second = 0; second < 300 && seconds === undefined; second += 1) await vi.advanceTimersByTimeAsync(1000);
  const { message } = await reading;
  return { message, seconds: seconds ?? 0 };
}

const frames = (...events: unknown[]) => events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");
const chat = (content: string, finish_reason: string | null = null) => ({
  choices: [{ index: 0, delta: content === "" ? {} : { content }, finish_reason }],
});
const wholeOf = (api: Api) => {
  const wire = wireOf(api);
  return frames(...wire.begin(), ...wire.text("Hello"));
};
/** The frames in which an API names the end, without the last mark. */
const namedEnd = (api: Api) => (api === "openai-responses" ? "" : frames(wireOf(api).end("stop")[0]));

describe.each(APIS)("%s behind the end", (api) => {
  it.each<[string, Step]>([
    ["silence", { silence: 100 }],
    ["pings", { pings: 100 }],
    ["comments", ": keep-alive\n\n"],
  ])("R207 %s: the answer is done within seconds", async (_title, after) => {
    const { message, seconds } = await play(api, [wholeOf(api), namedEnd(api), after]);
    expect(message).toMatchObject({ stopReason: "stop" });
    expect(said(message)).toEqual(["Hello"]);
    expect(seconds).toBeLessThan(api === "openai-responses" ? 40 : 15);
  });

  it("R332 the connection of such a server is ended", async () => {
    const source = new PassThrough();
    const reading = readStream(api, source, TOOLS, 120_000);
    source.write(wholeOf(api) + namedEnd(api));
    await settled();
    await vi.advanceTimersByTimeAsync(60_000);
    await reading;
    expect(source.destroyed).toBe(true);
  });

  it("R022 without an end silence is a failure, after its time", async () => {
    const wire = wireOf(api);
    const { message, seconds } = await play(api, [frames(...[...wire.begin(), ...wire.text("Hel")].slice(0, -1))]);
    if (api === "openai-completions") expect(said(message)).toEqual([]);
    expect(message).toMatchObject({ stopReason: "error", errorKind: "retryable" });
    expect(seconds).toBeGreaterThan(100);
  });
});

describe("a chat that names its end early", () => {
  it.each<[string, Step[]]>([
    ["with the first piece", [frames(chat("Hel", "stop")), { silence: 7 }, frames(chat("lo", "stop"))]],
    ["before any text", [frames(chat("", "stop")), { silence: 12 }, frames(chat("Hello"))]],
    ["with each piece", ["H", "e", "l", "l", "o"].flatMap((piece) => [frames(chat(piece, "stop")), { silence: 8 }])],
    ["behind the first piece", [frames(chat("Hel"), chat("", "stop")), { silence: 7 }, frames(chat("lo"))]],
    ["with pings between", [frames(chat("Hel", "stop")), { pings: 9 }, frames(chat("lo"))]],
    ["twenty seconds before the rest", [frames(chat("Hel", "stop")), { silence: 20 }, frames(chat("lo"))]],
  ])("R207 %s: the whole text", async (_title, steps) => {
    const { message } = await play("openai-completions", [...steps, "data: [DONE]\n\n"]);
    expect(message).toMatchObject({ stopReason: "stop" });
    expect(said(message)).toEqual(["Hello"]);
  });

  it("R207 usage behind the end is waited for, and shortens the wait", async () => {
    const usage = { choices: [], usage: { prompt_tokens: 9, completion_tokens: 3 } };
    const { message, seconds } = await play("openai-completions", [
      ...[frames(chat("Hello"), chat("", "stop")), { silence: 8 }, frames(usage), { pings: 60 }],
    ]);
    expect(message.usage.totalTokens).toBe(12);
    expect(seconds).toBeLessThan(14);
  });
});

describe("anthropic's stop reason before the text", () => {
  it("R207 is not the end", async () => {
    const [end, last] = wireOf("anthropic-messages").end("stop");
    const text = frames(...wireOf("anthropic-messages").text("Hello"));
    const { message } = await play("anthropic-messages", [
      frames(end),
      { silence: 9 },
      text,
      { silence: 2 },
      frames(last),
    ]);
    expect(said(message)).toEqual(["Hello"]);
  });
});
