import { mkdirSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { markdownHtml } from "../../../host/src/export/html/blocks.ts";
import { fenced, inertMarkdown, inertSpan } from "../../../host/src/export/markdown/inert.ts";
import { cleanTerminalText, printableName } from "../../../host/src/platform/terminal-text.ts";
import { findContextFiles } from "../../../host/src/prompt/context-files.ts";
import { readFrontMatter } from "../../../host/src/prompt/front-matter.ts";
import { expandSkill, findSkills } from "../../../host/src/prompt/skills.ts";
import { expandTemplate, splitArguments } from "../../../host/src/prompt/templates.ts";
import { mergeSettings } from "../../../host/src/settings/load-settings.ts";
import { parseLine } from "../../../host/src/store/parse-line.ts";
import { filesBench, oneEdit } from "../../../host/src/tools/__fixtures__/files-bench.ts";
import { createBashTool } from "../../../host/src/tools/bash/bash-tool.ts";
import { createEditTool } from "../../../host/src/tools/edit/edit-tool.ts";
import { createFindTool } from "../../../host/src/tools/find/find-tool.ts";
import { createGrepTool } from "../../../host/src/tools/grep/grep-tool.ts";
import { createLsTool } from "../../../host/src/tools/ls/ls-tool.ts";
import { createReadTool } from "../../../host/src/tools/read/read-tool.ts";
import { createWriteTool } from "../../../host/src/tools/write/write-tool.ts";
import { classifyEvent, classifyResponse } from "../../../llm/src/errors/classify.ts";
import { JsonReader } from "../../../llm/src/stream/json-reader.ts";
import { readSse } from "../../../llm/src/stream/sse.ts";
import { makePrompts } from "../../src/input/first-prompt.ts";
import { terminalText } from "../../src/output/terminal-text.ts";

export type Entry = (text: string) => unknown;

const ORIGIN = { provider: "mock" };
const NO_FILES = { text: "", images: [], warnings: [] };
const template = (body: string) => [{ name: "t", description: "", argumentHint: undefined, path: "/t.md", body }];

function feedJson(text: string): void {
  const reader = new JsonReader();
  for (let at = 0; at < text.length; at += 64) reader.feed(text.slice(at, at + 64));
}

async function readFrames(text: string): Promise<void> {
  async function* body() {
    const bytes = Buffer.from(text);
    for (let at = 0; at < bytes.length; at += 4096) yield bytes.subarray(at, at + 4096);
  }
  for await (const frames of readSse(body())) for (const { data } of frames) Buffer.byteLength(data);
}

/** A file with the text, in a new folder. Out: its path. */
function put(name: string, text: string): string {
  const path = filesBench().path(name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  return path;
}

/** What takes text from outside and can be called as a function, by name. */
export const ENTRIES: Readonly<Record<string, Entry>> = {
  "error body": (text) => classifyResponse({ status: 400, headers: {}, body: text }, ORIGIN),
  "error page": (text) => classifyResponse({ status: 502, headers: {}, body: `<html>${text}` }, ORIGIN),
  "error in JSON": (text) =>
    classifyResponse(
      { status: 429, headers: {}, body: JSON.stringify({ error: { message: text, code: text } }) },
      ORIGIN,
    ),
  "error in a stream": (text) => classifyEvent({ error: { message: text, type: text } }, ORIGIN),
  "headers of an error": (text) =>
    classifyResponse({ status: 429, headers: { "retry-after": text, "x-ratelimit-reset": text }, body: "" }, ORIGIN),
  "frames of a stream": readFrames,
  "data of a frame": (text) => readFrames(`data: ${text.replaceAll("\n", " ")}\n\n`),
  "arguments of a call": (text) => feedJson(text),
  "a text in arguments": (text) => feedJson(JSON.stringify({ content: text })),
  "text for the terminal": terminalText,
  "output of a command": (text) => cleanTerminalText(text),
  "name of a file": printableName,
  "markdown for a page": markdownHtml,
  "markdown for a document": inertMarkdown,
  "text in a fence": (text) => fenced(text, text),
  "text in a line": inertSpan,
  "stdin and prompt": (text) => makePrompts(text, NO_FILES, [text]),
  // biome-ignore lint/suspicious/noTemplateCurlyInString: a placeholder of prompt templates
  "arguments of a template": (text) => expandTemplate(`/t ${text}`, template("$1 $@ ${@:2}")),
  "body of a template": (text) => expandTemplate("/t a b", template(text)),
  "quotes of a template": splitArguments,
  "command with a slash": (text) => expandTemplate(`/${text}`, template("x")),
  "name of a skill": (text) => expandSkill(`/skill:${text}`, []),
  "front matter": (text) => readFrontMatter(`---\n${text}\n---\nbody`),
  "field of front matter": (text) => readFrontMatter(`---\nname: ${text}\n---\n`),
  "file of a skill": (text) =>
    findSkills([dirname(put("s/SKILL.md", `---\nname: s\ndescription: ${text}\n---\n${text}`))]),
  "file of instructions": (text) => {
    const cwd = dirname(put("AGENTS.md", text));
    findContextFiles({ tauDir: cwd, cwd, names: ["AGENTS.md"] });
  },
  settings: (text) => mergeSettings([{ source: "/settings.json", values: { defaultTools: [text], [text]: text } }]),
  "line of a session": parseLine,
  "text in a session": (text) =>
    parseLine(JSON.stringify({ type: "message", id: text, message: { role: "user", content: text } })),
  "edit: oldText and newText": (text) => editOf("a\nb\nc", text, text),
  "edit: newText": (text) => editOf("a\nb\nc", "b", text),
  "edit: the file": (text) => editOf(`${text}\nb\n`, "b", "c"),
  "edit: a text that is not there": (text) => editOf(`${text}x`, `${text}y`, "c"),
  "write: content": (text) => filesBench().run(createWriteTool, { path: "f", content: text }),
  "write: path": (text) => filesBench().run(createWriteTool, { path: text, content: "x" }),
  "read: the file": (text) => {
    const bench = filesBench();
    bench.put("f", text);
    return bench.run(createReadTool, { path: "f" });
  },
  "read: path": (text) => filesBench().run(createReadTool, { path: text }),
  "ls: path": (text) => filesBench().run(createLsTool, { path: text }),
};

/** The same, for those that start a process each time: they are tried with fewer sequences. */
export const PROCESS_ENTRIES: Readonly<Record<string, Entry>> = {
  "find: pattern": (text) => filesBench().run(createFindTool, { pattern: text }),
  "grep: pattern": (text) => filesBench().run(createGrepTool, { pattern: text, literal: true }),
  "grep: glob": (text) => filesBench().run(createGrepTool, { pattern: "x", glob: text }),
  "bash: command": (text) => filesBench().run(createBashTool, { command: `exit 0\n${text}` }),
};

function editOf(content: string, oldText: string, newText: string): unknown {
  const bench = filesBench();
  bench.put("f", content);
  return bench.run(createEditTool, oneEdit("f", oldText, newText));
}

/** Characters and sequences of which a run is known to hurt patterns, parsers and renderers. */
export const NASTY: readonly string[] = [
  " ",
  "\n",
  "\r",
  "\0",
  "\u2028",
  "/",
  "\\",
  "0",
  "a",
  "${1:-",
  '"',
  "`",
  "~",
  "#",
  "*",
  "](",
  "{",
  "<title",
  ": ",
  "> ",
  "\x1b]",
  "\b",
  "\u0301",
  "\ud800",
];

/** Those that mean something to a shell or to a pattern of files. */
export const NASTY_FOR_PROCESSES: readonly string[] = [" ", "\n", "/", "\\", "[", "*", "{a,"];
