import { Writable } from "node:stream";
import type { RunEnding, SessionEvent } from "@tau/host";
import { configError, LineOutput } from "@tau/host/program";
import type { AssistantMessage, ErrorKind } from "@tau/llm";
import { describe, expect, it } from "vitest";
import { jsonMode } from "./json/json-mode.ts";
import { failureOf } from "./outcome.ts";
import { closingLine } from "./print/closing-line.ts";
import { printMode } from "./print/print-mode.ts";
import { progressLine } from "./print/progress.ts";

const usage = {
  input: 1,
  output: 2,
  cacheRead: 0,
  cacheWrite: 0,
  totalTokens: 3,
  cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
};

const assistant = (text: string, more: Partial<AssistantMessage> = {}): AssistantMessage => ({
  role: "assistant",
  content: [{ type: "text", text }],
  api: "a",
  provider: "p",
  model: "m",
  usage,
  stopReason: "stop",
  timestamp: 1,
  ...more,
});

const end = (text: string, more: Partial<AssistantMessage> = {}): SessionEvent => ({
  type: "message_end",
  message: assistant(text, more),
});

function collect() {
  const chunks: string[] = [];
  const stream = new Writable({
    write(chunk, _encoding, done) {
      chunks.push(String(chunk));
      done();
    },
  });
  return {
    output: new LineOutput(stream),
    text: () => chunks.join(""),
    records: () =>
      chunks
        .join("")
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line)),
  };
}

const header = { type: "session", version: 3, id: "i", timestamp: "t", cwd: "/c" } as const;
const given = { text: "x", usage, cost: 0 };
const failed = (errorMessage: string, errorKind?: ErrorKind): RunEnding => {
  const failure = { code: "provider_error", params: { text: errorMessage } } as const;
  return { status: "error", failure, errorMessage, ...(errorKind && { errorKind }) };
};
const limit: RunEnding = { status: "limit", limit: "maxTurns", params: { most: 3 }, message: "3 turns" };
const error = failed("400 bad", "invalid_request");

describe("jsonMode", () => {
  const run = async (ending: RunEnding) => {
    const { output, records } = collect();
    const mode = jsonMode({
      output,
      header,
      path: "/s.jsonl",
      warnings: ["w"],
      tell: () => undefined,
      context: () => ({
        ...(ending.status === "error" && ending.errorMessage === "no key" && { mistake: configError("no_model", {}) }),
      }),
    });
    await mode.onEvent({ type: "agent_start" });
    await mode.onEvent({ type: "agent_settled", aborted: false, outcome: { ...ending, ...given } });
    await mode.finish();
    return records();
  };

  it("R274 writes the header first, then warnings and events, last agent_settled with outcome and session", async () => {
    expect(await run({ status: "done" })).toEqual([
      header,
      { type: "warning", message: "w" },
      { type: "agent_start" },
      {
        ...{ type: "agent_settled", aborted: false, outcome: { status: "done", ...given } },
        ...{ sessionId: header.id, sessionPath: "/s.jsonl" },
      },
    ]);
  });

  it.each<[RunEnding, object]>([
    [error, { type: "error", message: "400 bad", exitCode: 1, errorKind: "invalid_request" }],
    [limit, { type: "error", message: "3 turns", exitCode: 3, limit: "maxTurns" }],
    [failed("no key"), { type: "error", message: "no key", exitCode: 2 }],
    [{ status: "aborted" }, { type: "error", exitCode: 1, aborted: true }],
    [
      { status: "denied", denied: [{ toolName: "bash", reason: "r" }] },
      { type: "error", exitCode: 4 },
    ],
  ])("R181 puts one error record before agent_settled for %j", async (outcome, record) => {
    const records = await run(outcome);
    expect(records.at(-2)).toMatchObject(record);
    expect(records.at(-1)).toMatchObject({ type: "agent_settled", aborted: false });
    expect(records.filter(({ type }) => type === "error")).toHaveLength(1);
  });
});

describe("printMode", () => {
  const run = async (events: SessionEvent[], ending: RunEnding, toTerminal = false) => {
    const { output, text } = collect();
    const told: string[] = [];
    const lines: string[] = [];
    const mode = printMode({
      output,
      toTerminal,
      tell: (line) => told.push(line),
      progress: (line) => lines.push(line),
      context: () => ({}),
    });
    for (const event of events) await mode.onEvent(event);
    await mode.onEvent({ type: "agent_settled", aborted: false, outcome: { ...ending, ...given } });
    await mode.finish();
    return { text: text(), told, lines };
  };

  it("writes the last answer only, with one line end", async () => {
    const events = [
      end("first"),
      end("", { content: [{ type: "toolCall", id: "1", name: "ls", arguments: {} }] }),
      end("last\n"),
    ];
    expect((await run(events, { status: "done" })).text).toBe("last\n");
    expect((await run([end("x")], { status: "done" })).text).toBe("x\n");
    expect((await run([], { status: "done" })).text).toBe("");
  });

  it("R181 writes no half answer of a failed run, and reports the failure", async () => {
    const { text, told } = await run([end("before"), end("half", { stopReason: "error" })], error);
    expect([text, told]).toEqual(["", [expect.stringMatching(/^400 bad; take another model with --model, or/)]]);
  });

  it.each([
    ["retryable", "503 busy", "503 busy; try again later, or name another model in fallbackModels"],
    ["quota", "402 no", "402 no; see to the account"],
    [undefined, "it answered with an error", "it answered with an error; try again, or take"],
    ["auth", "no (HTTP 401); check the API key", "no (HTTP 401); check the API key"],
  ] as const)("says what can be done about an error that is %s", async (errorKind, errorMessage, text) => {
    const { told } = await run([], failed(errorMessage, errorKind));
    expect(told).toEqual([expect.stringContaining(text)]);
    expect(told[0]?.split("; ")).toHaveLength(2);
  });

  it("R191 writes what there is when a limit ends the run", async () => {
    const { text, told } = await run([end("partial")], limit);
    expect([text, told]).toEqual(["partial\n", ["3 turns"]]);
  });

  it("R273 a limit names the command that continues the session, where it is kept", () => {
    expect(failureOf(limit)?.told).toBe("3 turns");
    expect(failureOf(limit, { resume: 'tau --session i "continue"' })).toMatchObject({
      message: "3 turns",
      told: '3 turns Continue with: tau --session i "continue"',
    });
  });

  it("R107 R191 reports a limit once, as an error, and leaves what is not saved to the end of the program", async () => {
    const warnings: SessionEvent[] = [
      { type: "warning", message: "not being saved" },
      { type: "warning", message: "not being saved", settling: true },
      { type: "warning", message: "3 turns", settling: true },
    ];
    expect((await run(warnings, limit)).told).toEqual(["warning: not being saved", "3 turns"]);
  });

  it("R175 names what was denied", async () => {
    const { told } = await run([], { status: "denied", denied: [{ toolName: "bash", reason: "not allowed" }] });
    expect(told[0]).toContain("bash (not allowed)");
  });

  it("says that another model answers, once, whether progress is shown or not", async () => {
    const event: SessionEvent = { type: "model_fallback", from: "a/a", to: "b/b", reason: "401 no" };
    const { told, lines } = await run([event, end("x")], { status: "done" });
    expect([told, lines]).toEqual([["warning: a/a failed, continuing with b/b: 401 no"], []]);
  });

  it("R135 sends nothing to a terminal that it would act on", async () => {
    const events: SessionEvent[] = [
      { type: "tool_execution_start", toolCallId: "1", toolName: "bash", args: { command: "a\x1b[2J\nb" } },
      end("red\x1b]0;t\x07 \u202eder\u2066"),
    ];
    const { text, lines } = await run(events, { status: "done" }, true);
    expect(text).toBe("red der\n");
    expect(lines).toEqual(["> bash a\\x1b[2J b"]);
  });
});

describe("on a terminal", () => {
  const update = (delta: string): SessionEvent => ({
    type: "message_update",
    message: assistant(delta),
    assistantMessageEvent: { type: "text_delta", contentIndex: 0, delta, partial: assistant(delta) },
  });
  const call: SessionEvent = { type: "tool_execution_start", toolCallId: "1", toolName: "ls", args: { path: "." } };

  /** Stdout and stderr in the order in which they were written. */
  const shown = async (events: readonly SessionEvent[], ending: RunEnding = { status: "done" }) => {
    let screen = "";
    const stream = new Writable({
      write(chunk, _encoding, done) {
        screen += String(chunk);
        done();
      },
    });
    const line = (text: string) => {
      screen += `|${text}\n`;
    };
    const mode = printMode({
      output: new LineOutput(stream),
      toTerminal: true,
      tell: line,
      progress: line,
      context: () => ({}),
      closing: () => "end",
    });
    for (const event of events) await mode.onEvent(event);
    await mode.onEvent({ type: "agent_settled", aborted: false, outcome: { ...ending, ...given } });
    await mode.finish();
    return screen;
  };

  it("R265 replies are shown while they come, once, and end with one line about the run", async () => {
    expect(await shown([update("Hel"), update("lo"), end("Hello")])).toBe("Hello\n|end\n");
    expect(await shown([update("Hello\n"), end("Hello\n")])).toBe("Hello\n|end\n");
    expect(await shown([end("whole")])).toBe("whole\n|end\n");
  });

  it("R265 lines of progress and failures begin a line of their own", async () => {
    const events = [update("I look"), call, end("I look"), update("Done"), end("Done")];
    expect(await shown(events)).toBe("I look\n|> ls .\nDone\n|end\n");
    expect(await shown([update("half")], limit)).toBe("half\n|3 turns\n|end\n");
  });

  it("R135 R265 what a terminal would act on is taken out of each piece", async () => {
    expect(await shown([update("a\x1b[2Jb"), update("\u202ec"), end("x")])).toBe("abc\n|end\n");
  });

  it("R265 the last line has model, tokens, cost, time and session", () => {
    const model = { provider: "p", id: "m" };
    const outcomes = [
      { usage: { ...usage, totalTokens: 1200 }, cost: 0.002 },
      { usage, cost: 0.25 },
    ];
    const line = closingLine({ model, outcomes, milliseconds: 2345, sessionId: "0199-abcdef12" });
    expect(line).toBe('~ p/m, 1,203 tokens, $0.25, 2.3 s, continue: tau --session abcdef12 -p "…"');
    // An id that somebody chose is not cut into something that looks like an option.
    const chosen = closingLine({ model, outcomes: [], milliseconds: 0, sessionId: "release-nightly" });
    expect(chosen).toContain('continue: tau --session release-nightly -p "…"');
    expect(closingLine({ model, outcomes: [], milliseconds: 0, sessionId: undefined })).toContain("session not kept");
  });
});

describe("progressLine", () => {
  it("is short and says what matters", () => {
    const line = progressLine({
      type: "tool_execution_start",
      toolCallId: "1",
      toolName: "write",
      args: { path: "x".repeat(300) },
    });
    expect(line).toHaveLength(100);
    expect(
      progressLine({ type: "auto_retry_start", attempt: 1, maxAttempts: 3, delayMs: 1500, errorMessage: "busy" }),
    ).toBe("~ the request failed; retry 1 of 3 in 2 s: busy");
    expect(progressLine({ type: "agent_start" })).toBe(undefined);
  });

  it.each([
    ["a return", "rm -rf x; #\recho hello   ", "rm -rf x; #\\recho hello"],
    ["backspaces", "rm -rf x\b\b\b\b\b\b\b\bls", "rm -rf x\\x08\\x08\\x08\\x08\\x08\\x08\\x08\\x08ls"],
    ["the title of a window", "ls \x1b]0; rm -rf x; \x07", "ls \\x1b]0; rm -rf x; \\x07"],
    ["an 8-bit sequence", "ls \x9d0; rm -rf x; \x9c", "ls \\x9d0; rm -rf x; \\x9c"],
    ["cursor to column 1", "rm -rf x\x1b[Gls", "rm -rf x\\x1b[Gls"],
  ])("R135 a command hides nothing of itself behind %s", (_what, command, shown) => {
    const args = { command };
    expect(progressLine({ type: "tool_execution_start", toolCallId: "1", toolName: "bash", args })).toBe(
      `> bash ${shown}`,
    );
    const error = { content: [{ type: "text" as const, text: command }], details: undefined };
    const end = {
      type: "tool_execution_end",
      toolCallId: "1",
      toolName: "bash",
      result: error,
      isError: true,
    } as const;
    if (!command.includes("0;")) expect(progressLine(end)).toContain("rm -rf x");
  });
});
