import type { AssistantMessage, Message, ToolResultMessage } from "../protocol/message.ts";
import type { Context } from "../protocol/request.ts";
import { reply, type ScriptReply, toolCall } from "./reply.ts";

/** The one prompt that the demo plays its script for, on the sample project. */
export const DEMO_PROMPT = "The test fails. Find the bug in src/price.js, fix it, and show me that the test is green.";

/** What to do to get a real model; ends every talk with the script. */
const REAL_MODEL_HINT = [
  "To work with a real model, do one of these and start tau again:",
  "  export ANTHROPIC_API_KEY=…   (or OPENAI_API_KEY, OPENROUTER_API_KEY, …)",
  "  start a local server (Ollama, LM Studio, llama.cpp, vLLM); tau finds it on its default port",
  "  add a provider to ~/.tau/models.json",
  "Then `tau --list-models` shows what there is, and `tau --model provider/id` chooses one.",
].join("\n");

const SOURCE = "src/price.js";
const TEST = "test/price.test.js";
const BUG = "return price - price * percent;";
const FIXED = "return price - price * (percent / 100);";
const NEEDED_TOOLS = ["bash", "read", "edit"];

/**
 * The next reply of the demo script. It looks at what the tools answered: it stops and says why as soon as something
 * is not as in the sample project, and it says green only of a run that it saw green.
 */
export function demoReply(context: Context): ScriptReply {
  const start = promptIndex(context.messages);
  if (start === undefined)
    return farewell("I am not a model: I am the script `scripted/demo`, and I cannot answer this.");
  const missing = NEEDED_TOOLS.filter((name) => !hasTool(context, name));
  if (missing.length > 0) {
    return stop(
      `I need the ${missing.join(", ")} tool${missing.length > 1 ? "s" : ""}, and this session does not have ${missing.length > 1 ? "them" : "it"}.`,
    );
  }
  const since = context.messages.slice(start + 1);
  const stage = since.filter(isFinished).length;
  return STAGES[stage]?.(lastResults(since)) ?? farewell("My script is over.");
}

/** What comes after each reply, judged by the results of that reply's calls. */
const STAGES: readonly ((results: ToolResultMessage[]) => ScriptReply)[] = [
  () =>
    reply(
      "I am a script that plays a model, so that you can see tau work without one. First I run the test.",
      toolCall("bash", { command: "node --test" }),
    ),
  ([run]) => {
    const outcome = readTestRun(run);
    if (outcome === undefined) return stop(`I could not run the test: ${firstLine(run)}`);
    if (outcome.failed === 0) return farewell("The test is green already, so there is nothing to fix.");
    return reply(
      `${outcome.failed} of ${outcome.failed + outcome.passed} tests fail. I read the source and the test.`,
      toolCall("read", { path: SOURCE }),
      toolCall("read", { path: TEST }),
    );
  },
  (results) => {
    const failed = results.find((result) => result.isError);
    if (failed || results.length === 0) return stop(`I could not read the files: ${firstLine(failed)}`);
    if (!results.some((result) => resultText(result).includes(BUG))) {
      return stop(`${SOURCE} is not the one that I know: the line \`${BUG}\` is not in it.`);
    }
    return reply(
      `\`percent\` goes from 0 to 100, but the code takes it as a fraction. I divide it by 100.`,
      toolCall("edit", { path: SOURCE, edits: [{ oldText: BUG, newText: FIXED }] }),
    );
  },
  ([edit]) => {
    if (!edit || edit.isError) return stop(`The edit failed: ${firstLine(edit)}`);
    return reply("Now the test again.", toolCall("bash", { command: "node --test" }));
  },
  ([run]) => {
    const outcome = readTestRun(run);
    if (outcome === undefined) return stop(`I could not run the test again: ${firstLine(run)}`);
    if (outcome.failed > 0 || outcome.passed === 0) {
      return stop(`The test is still not green (${outcome.passed} passed, ${outcome.failed} failed).`);
    }
    return farewell(
      `Done: ${outcome.passed} tests pass. The bug was in ${SOURCE}: \`${BUG}\` is now \`${FIXED}\`.\n\n` +
        "The tools, the edit and the test run were real; the words were a script, not a model.",
    );
  },
];

function farewell(text: string): ScriptReply {
  return reply(`${text}\n\n${REAL_MODEL_HINT}`);
}

const stop = (reason: string) => farewell(`${reason} I stop here: I am a script and cannot find another way.`);

/** Where the demo began, or undefined when the user says something else now. */
function promptIndex(messages: readonly Message[]): number | undefined {
  const index = messages.findLastIndex((message) => message.role === "user");
  const message = messages[index];
  if (message?.role !== "user") return undefined;
  const { content } = message;
  const text =
    typeof content === "string" ? content : content.map((part) => ("text" in part ? part.text : "")).join("");
  return text.includes(DEMO_PROMPT) ? index : undefined;
}

function hasTool(context: Context, name: string): boolean {
  return context.tools?.some((tool) => tool.name === name) ?? false;
}

const isFinished = (message: Message): message is AssistantMessage =>
  message.role === "assistant" && message.stopReason !== "error" && message.stopReason !== "aborted";

function lastResults(messages: readonly Message[]): ToolResultMessage[] {
  const last = messages.findLastIndex((message) => message.role === "assistant");
  return messages.slice(last + 1).filter((message) => message.role === "toolResult");
}

function resultText(result: ToolResultMessage): string {
  return result.content.map((block) => (block.type === "text" ? block.text : "")).join("\n");
}

function firstLine(result: ToolResultMessage | undefined): string {
  const line = result && resultText(result).trim().split("\n")[0];
  return line || "no result came back.";
}

/** Counts of a run of `node --test` in any of its reporters; undefined when the text has none. */
function readTestRun(run: ToolResultMessage | undefined): { passed: number; failed: number } | undefined {
  if (!run) return undefined;
  const text = resultText(run);
  const passed = /^(?:#|ℹ) pass (\d+)/m.exec(text)?.[1];
  const failed = /^(?:#|ℹ) fail (\d+)/m.exec(text)?.[1];
  if (passed === undefined || failed === undefined) return undefined;
  // A run that ended badly although no test failed (a crash, a time-out) is not green.
  const unseen = run.isError && failed === "0" ? 1 : 0;
  return { passed: Number(passed), failed: Number(failed) + unseen };
}
