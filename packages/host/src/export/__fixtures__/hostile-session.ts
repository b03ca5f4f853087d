import { writeFileSync } from "node:fs";
import { ALL_HOSTILE, HOSTILE } from "./hostile.ts";

/**
 * A session file with hostile text wherever a file can have text: ids, roles, types, names, models, labels, errors,
 * arguments, details, media types, times. Written by hand, since no store would write most of it.
 */
export function writeHostileSession(path: string): void {
  const lines: object[] = [
    { type: "session", version: 3, id: HOSTILE[0], timestamp: HOSTILE[1], cwd: ALL_HOSTILE, parentSession: HOSTILE[7] },
  ];
  let parentId: string | null = null;
  let count = 0;
  const add = (entry: object, under: string | null = parentId): string => {
    const id = `${HOSTILE[count % HOSTILE.length]}#${count++}`;
    lines.push({ timestamp: HOSTILE[count % HOSTILE.length], ...entry, id, parentId: under });
    parentId = id;
    return id;
  };
  const message = (role: string, more: object) => add({ type: "message", message: { role, timestamp: ALL_HOSTILE, ...more } });
  add({ type: "session_info", name: ALL_HOSTILE });
  message("system", {
    content: ALL_HOSTILE,
    sections: Object.fromEntries(HOSTILE.map((text) => [text, text])),
    toolsAdded: HOSTILE.map((name) => ({ name, description: name, parameters: {} })),
    toolsRemoved: [{ name: HOSTILE[2] }, null],
  });
  // Two at a time: a name is cut, and most have room for both.
  for (let at = 0; at < HOSTILE.length; at += 2) {
    const text = `${HOSTILE[at]} ${HOSTILE[at + 1]}`;
    const user = message("user", { content: text });
    add({ type: "label", targetId: user, label: text }, user);
    add({ type: "model_change", provider: text, modelId: text }, user);
    add({ type: "thinking_level_change", thinkingLevel: text });
    sayAll(message, text);
  }
  const fork = parentId;
  message("user", { content: [{ type: "text", text: ALL_HOSTILE }, { type: "image", data: HOSTILE[0], mimeType: "image/png" }] });
  add({ type: "compaction", summary: ALL_HOSTILE, firstKeptEntryId: HOSTILE[3], tokensBefore: HOSTILE[4] });
  add({ type: "branch_summary", fromId: HOSTILE[5], summary: ALL_HOSTILE }, fork);
  const last = message("user", { content: ALL_HOSTILE });
  add({ type: "context_edit", targetId: last, replacement: { content: ALL_HOSTILE } });
  message("assistant", { content: [{ type: "text", text: "end of the branch" }] });
  writeFileSync(path, `${lines.map((line) => JSON.stringify(line)).join("\n")}\n`);
}

/** Everything that is said around one text. */
function sayAll(message: (role: string, more: object) => string, text: string): void {
  const args = { [text]: text, path: text, command: text, content: text, oldText: text, newText: text };
  const names = [text, "bash", "edit", "write"];
  const calls = names.map((name, index) => ({ type: "toolCall", id: `${text}${index}`, name, arguments: args }));
  message("assistant", {
    content: [
      { type: "thinking", thinking: text },
      { type: "text", text },
      { type: "image", data: text, mimeType: text },
      { type: text, data: text },
      ...calls,
      { type: "toolCall", id: text, name: text, arguments: text, invalidArguments: { raw: text, error: text } },
    ],
    api: text,
    provider: text,
    model: text,
    thinkingLevel: text,
    usage: { input: text, output: 1, cost: { total: text } },
    stopReason: "error",
    errorMessage: text,
    errorKind: text,
  });
  for (const [index, name] of names.entries()) {
    message("toolResult", {
      toolCallId: `${text}${index}`,
      toolName: name,
      content: [
        { type: "text", text },
        { type: "image", data: `"${text}`, mimeType: `image/png"${text}` },
      ],
      details: { diff: `--- a\n+++ b\n@@ ${text}\n-${text}\n+${text}`, exitCode: text, durationMs: text },
      isError: text,
    });
  }
  message("bashExecution", { command: text, output: text, exitCode: text, cancelled: text });
  message("custom", { customType: text, content: [{ type: "text", text }, null], display: true });
  message(text, { content: text, extra: text });
}
