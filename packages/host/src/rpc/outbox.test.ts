import { PassThrough, Writable } from "node:stream";
import { reply } from "@tau/llm/testing";
import { describe, expect, it } from "vitest";
import { cleanUpAfterEach } from "../session/__fixtures__/harness.ts";
import { endServersAfterEach, startRpc } from "./__fixtures__/rpc-harness.ts";
import { LineOutput } from "./line-output.ts";
import { Outbox, type RpcOutput } from "./outbox.ts";
import { serveRpc } from "./server.ts";

cleanUpAfterEach();
endServersAfterEach();

/** A pipe that is full after each line, until it is told that its reader has caught up. */
function narrowOutput() {
  const lines: string[] = [];
  let room: () => void = () => undefined;
  const output: RpcOutput = {
    write(line) {
      lines.push(line);
      return new Promise((resolve) => {
        room = resolve;
      });
    },
    flush: async () => undefined,
  };
  return { output, lines, read: () => room() };
}

const tick = () => new Promise<void>((resolve) => setImmediate(resolve));

describe("an outbox whose reader is behind", () => {
  it("R302 makes no text of what nobody has room for, and keeps the order", async () => {
    const { output, lines, read } = narrowOutput();
    const outbox = new Outbox(output);
    let made = 0;
    const data = { toJSON: () => ++made };
    for (let n = 0; n < 1000; n++) void outbox.respond({ id: n, command: "get_messages", result: { data } });
    expect([lines.length, made]).toEqual([1, 1]);
    for (let n = 1; n < 1000; n++) {
      read();
      await tick();
      expect([lines.length, made]).toEqual([n + 1, n + 1]);
    }
    expect(lines.map((line) => JSON.parse(line).id)).toEqual([...lines.keys()]);
    expect(outbox.room).toBeDefined();
    read();
    await tick();
    expect(outbox.room).toBeUndefined();
  });

  it("R301 all that wait for one reader wait for one promise, however many they are", () => {
    const stream = new Writable({ highWaterMark: 1, write: () => undefined });
    const output = new LineOutput(stream);
    const waits = new Set(Array.from({ length: 60_000 }, () => output.write("x\n")));
    expect(waits.size).toBe(1);
    // What was a chain of 60,000 closures overflowed the stack here.
    stream.emit("drain");
    expect(output.write("y\n")).not.toBe([...waits][0]);
  });
});

describe("a server whose client pipelines", () => {
  it("R301 answers 60,000 commands of a client that reads all, in order", async () => {
    const { client, raw, records } = await startRpc([], { inMemory: true });
    const many = 60_000;
    let text = "";
    for (let n = 0; n < many; n++) text += `{"id":${n},"type":"get_session_stats"}\n`;
    raw(text);
    await client.send("get_state");
    const answers = records().filter(({ command }) => command === "get_session_stats");
    expect(answers).toHaveLength(many);
    expect(answers.every(({ id, success }, index) => id === index && success)).toBe(true);
  }, 60_000);

  it("R302 reads no further command while the client does not read its answers", async () => {
    const { sessions } = await startRpc([reply("ok")], { inMemory: true });
    const { output, lines, read } = narrowOutput();
    let taken = 0;
    async function* commands() {
      for (let n = 0; n < 50; n++) {
        taken++;
        yield `{"id":${n},"type":"get_state"}\n`;
      }
    }
    const services = { version: "1", availableModels: async () => [] };
    const served = serveRpc({ sessions, services, input: commands(), output });
    for (let n = 1; n <= 50; n++) {
      await tick();
      expect([lines.length, taken]).toEqual([n, n]);
      read();
    }
    await served;
    expect(lines).toHaveLength(50);
  });

  it("R302 a signal ends the wait for a client that does not read", async () => {
    const { sessions } = await startRpc([], { inMemory: true });
    const { output, lines, read } = narrowOutput();
    const stop = new AbortController();
    const input = new PassThrough();
    const services = { version: "1", availableModels: async () => [] };
    const served = serveRpc({ sessions, services, input, output, signal: stop.signal });
    input.write('{"type":"get_state"}\n{"type":"get_state"}\n');
    await tick();
    await tick();
    expect(lines).toHaveLength(1);
    stop.abort();
    await tick();
    read();
    await served;
    expect(lines).toHaveLength(1);
  });
});
