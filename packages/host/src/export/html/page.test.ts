import { createHash } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { labelEntry, renameSession } from "../../store/navigate.ts";
import { openSessionStore } from "../../store/open-session.ts";
import { ALL_HOSTILE } from "../__fixtures__/hostile.ts";
import { writeHostileSession } from "../__fixtures__/hostile-session.ts";
import { answer, memorySession, reply, say, toolCall, whole } from "../__fixtures__/sessions.ts";
import { tagsOf } from "../__fixtures__/tags.ts";
import { exportHtml } from "./page.ts";

let dir: string;
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), "tau-export-html-"));
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const main = (html: string): string => html.slice(html.indexOf("<main>"), html.indexOf("</main>"));
const png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/** A session file with these lines behind the header. */
function fileOf(name: string, lines: readonly (object | string)[]): string {
  const path = join(dir, name);
  const header = { type: "session", version: 3, id: "s", timestamp: "2026-01-01T00:00:00.000Z", cwd: "/w" };
  const texts = [header, ...lines].map((line) => (typeof line === "string" ? line : JSON.stringify(line)));
  writeFileSync(path, `${texts.join("\n")}\n`);
  return path;
}

const pageOf = (path: string): string => whole(exportHtml(openSessionStore(path, { readOnly: true })));

describe("exportHtml", () => {
  it("shows the messages of the current branch in order, and hides the others", () => {
    const store = memorySession();
    const a = say(store, "first **word**");
    reply(store, "old answer");
    store.moveLeaf(a.id);
    reply(store, "new answer");
    const html = whole(exportHtml(store));
    const sections = [...html.matchAll(/<section data-chain="\d+"[^>]*>/g)].map(([tag]) => tag.includes(" hidden"));
    expect(sections).toEqual([false, true, false]);
    expect(html.indexOf("first <strong>word</strong>")).toBeLessThan(html.indexOf("<p>old answer</p>"));
    expect(html).toContain("<p>new answer</p>");
    expect(whole(exportHtml(store))).toBe(html);
  });

  it("has a policy that names the hashes of its own style and script, and nothing else", () => {
    const store = memorySession();
    say(store, "x");
    const html = whole(exportHtml(store));
    const hash = (tag: string) => {
      const [, text = ""] = new RegExp(`<${tag}>([\\s\\S]*?)</${tag}>`).exec(html) ?? [];
      return `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
    };
    const [, policy] = /Content-Security-Policy" content="([^"]*)"/.exec(html) ?? [];
    expect(policy).toBe(
      `default-src 'none'; script-src ${hash("script")}; style-src ${hash("style")}; img-src data:; base-uri 'none'; form-action 'none'`,
    );
    expect(html.match(/<script/g)).toHaveLength(1);
    expect(html).not.toMatch(/ (src|srcset|action|data|poster)="(?!data:image)/);
  });

  it("folds a call with its arguments, result and diff", () => {
    const store = memorySession();
    say(store, "go");
    reply(store, [
      toolCall("c1", "edit", { path: "a.ts", edits: [{ oldText: "x", newText: "y" }] }),
      toolCall("c2", "bash", { command: "ls <dir>" }),
    ]);
    answer(store, "c2", "\u001b[31mred\u001b[0m & done", { details: { exitCode: 2, durationMs: 1500 }, isError: true });
    answer(store, "c1", "Edited", {
      toolName: "edit",
      details: { diff: "--- a.ts\n+++ a.ts\n@@ -1,2 +1,2 @@\n same\n-x\n+y\n+z\n" },
    });
    const html = main(whole(exportHtml(store)));
    const [, edit = "", bash = ""] = html.split('<details class="call');
    expect(edit).toContain('<code class="about" dir="auto">a.ts</code><span class="outcome">+2 −1</span>');
    expect(edit).toContain(
      '<pre class="diff"><span class="hunk">@@ -1,2 +1,2 @@\n</span><span class="same"> same\n</span><span class="del">-x\n</span><span class="add">+y\n+z\n</span></pre>',
    );
    expect(bash).toContain('<div class="command"><pre>ls &lt;dir&gt;</pre></div>');
    expect(bash).toContain("<pre>red &amp; done</pre>");
    expect(bash).toContain("exit 2 · 1.5 s");
    expect(html.match(/<details class="call/g)).toHaveLength(2);
    expect(html).not.toContain("<details open");
  });

  it("says of a call that it has no result, and shows results that have no call", () => {
    const store = memorySession();
    reply(store, [toolCall("c1", "bash", { command: "x" }), toolCall("c1", "bash", { command: "y" })]);
    answer(store, "c1", "one");
    answer(store, "lost", "orphan");
    const html = main(whole(exportHtml(store)));
    expect(html).toContain("<pre>one</pre>");
    expect(html).toContain("<pre>orphan</pre>");
    expect(html).toContain("no result");
  });

  it("F8 shows a failed attempt that was taken out of the context, greyed and with a note", () => {
    const store = memorySession();
    say(store, "go");
    const failed = reply(store, "half", {
      stopReason: "error",
      errorMessage: "529 <overloaded>",
      errorKind: "retryable",
    });
    store.append({ type: "context_edit", targetId: failed.id, replacement: null });
    reply(store, "whole");
    const html = main(whole(exportHtml(store)));
    expect(html).toContain('<article id="e1" class="said assistant dropped" data-edits="0h">');
    expect(html).toContain("Not in the model’s context");
    expect(html).toContain("The request failed (retryable): 529 &lt;overloaded&gt;");
    expect(html).toContain('Took <a href="#e1">an earlier entry</a> out');
  });

  it("marks compactions, models, levels, labels, names and summaries of other branches", () => {
    const store = memorySession();
    const a = say(store, "go");
    store.append({ type: "model_change", provider: "p", modelId: "m<2>" });
    store.append({ type: "thinking_level_change", thinkingLevel: "high" });
    store.append({ type: "compaction", summary: "It **was** long", firstKeptEntryId: a.id, tokensBefore: 12_345 });
    store.append({ type: "branch_summary", fromId: a.id, summary: "left" });
    store.append({ type: "custom_message", customType: "note", content: "from an extension", display: true });
    store.append({
      type: "message",
      message: {
        role: "bashExecution",
        command: "ls",
        output: "o",
        exitCode: 1,
        cancelled: false,
        truncated: false,
        timestamp: 1,
      },
    });
    labelEntry(store, a.id, "start <here>");
    renameSession(store, "My <session>");
    const html = whole(exportHtml(store));
    for (const part of [
      "<title>My &lt;session&gt;</title>",
      "p/m&lt;2&gt;",
      "Thinking: <b>high</b>",
      "Compacted at 12.3k tokens",
      "It <strong>was</strong> long",
      "Summary of a branch that was left",
      "from an extension",
      "start &lt;here&gt;",
      "exit 1",
    ])
      expect(html).toContain(part);
  });

  it("shows images of the four safe types as data, and names all others", () => {
    const store = memorySession();
    const image = (mimeType: string, data = png) => ({ type: "image" as const, mimeType, data });
    say(store, [
      image("image/png"),
      image("image/svg+xml"),
      image("text/html"),
      image("image/png", 'x" onerror="y'),
      image("IMAGE/GIF"),
    ]);
    const html = main(whole(exportHtml(store)));
    expect([...html.matchAll(/<img [^>]*src="([^"]{0,20})/g)].map(([, src]) => src)).toEqual(
      ["data:image/png;base64", "data:image/gif;base64"].map((src) => src.slice(0, 20)),
    );
    expect(html.match(/\[image, /g)).toHaveLength(3);
  });

  it("cuts a huge result with a note, and keeps its beginning and its end", () => {
    const store = memorySession();
    reply(store, [toolCall("c", "bash", { command: "x" })]);
    answer(store, "c", `BEGIN${"x".repeat(300_000)}END`);
    const html = whole(exportHtml(store, { maxResultChars: 1000 }));
    expect(html).toContain("<pre>BEGIN");
    expect(html).toContain("END</pre>");
    expect(html).toContain("299,008 more characters are in the session file");
    expect(main(html).length).toBeLessThan(3000);
  });

  it("R143 masks the user's own keys wherever they stand", () => {
    const store = memorySession("/w/sk-secret-123456");
    renameSession(store, "about sk-secret-123456");
    const a = say(store, "my key is sk-secret-123456");
    labelEntry(store, a.id, "sk-secret-123456");
    reply(store, [toolCall("c", "bash", { command: "echo sk-secret-123456" })]);
    answer(store, "c", "sk-secret-123456", { details: { diff: "@@ -1 +1 @@\n+sk-secret-123456" } });
    const html = whole(exportHtml(store, { secrets: ["sk-secret-123456"] }));
    expect(html).not.toContain("sk-secret");
    expect(html.match(/\[secret\]/g)?.length).toBeGreaterThan(6);
  });

  it("R182 is well formed and holds no handler, style or foreign address, whatever the session says", () => {
    const path = join(dir, "hostile.jsonl");
    writeHostileSession(path);
    const html = pageOf(path);
    const tags = tagsOf(html.slice(html.indexOf("<aside>"), html.indexOf("</main>") + "</main>".length));
    expect(tags.length).toBeGreaterThan(1000);
    const pairs = tags.flatMap((tag) => tag.pairs);
    expect(pairs.filter(([name]) => /^on|^(style|srcdoc|action|srcset)$/.test(name))).toEqual([]);
    const addresses = pairs.flatMap(([name, value]) => (name === "href" || name === "src" ? [value] : []));
    expect(addresses.filter((to) => !/^(#e\d+$|https:\/\/evil\.example)/.test(to))).toEqual([]);
  });

  it("R103 shows calls with arguments of any kind, and content of any shape", () => {
    const odd = [null, "text", 5, [1], { a: null }].map((args, index) => ({
      type: "toolCall",
      id: index,
      name: null,
      arguments: args,
    }));
    const entry = (id: string, parentId: string | null, message: object) => ({
      type: "message",
      id,
      parentId,
      timestamp: "x",
      message,
    });
    const path = fileOf("odd.jsonl", [
      entry("a", null, { role: "user", content: null }),
      entry("b", "a", {
        role: "assistant",
        content: [...odd, null, 7, { type: "text" }, { type: "thinking" }, {}],
        usage: null,
      }),
      entry("c", "b", { role: "toolResult", content: [{ type: "text", text: 5 }, null], details: { diff: 5 } }),
      entry("d", "c", { role: "custom" }),
      entry("e", "d", { role: "__proto__", content: 1 }),
      entry("f", "e", { role: "constructor" }),
      { type: "__proto__", id: "g", parentId: "f" },
      { type: "constructor", id: "h", parentId: "g" },
      {
        type: "custom_message",
        id: "i",
        parentId: "h",
        customType: "x",
        content: [null, 5, { type: "text", text: null }],
      },
      { type: "model_change", id: "j", parentId: "i" },
      { type: "compaction", id: "k", parentId: "j", summary: "s", usage: "many", tokensBefore: null },
      entry("l", "k", { role: "bashExecution" }),
      entry("m", "l", { role: "system", content: 5, sections: null, toolsAdded: "x" }),
      entry("n", "m", { role: "user", content: "the end" }),
    ]);
    expect(pageOf(path)).toContain("the end");
  });

  it("R307 shows a call whose arguments were nested deeper than the stack without them", () => {
    const deep = `${"[".repeat(200_000)}${"]".repeat(200_000)}`;
    const line = `{"type":"message","id":"a","parentId":null,"timestamp":"x","message":{"role":"assistant","content":[{"type":"toolCall","id":"c","name":"deep_tool","arguments":{"a":${deep}}}]}}`;
    const html = pageOf(fileOf("deep.jsonl", [line]));
    expect(html).toContain("deep_tool");
    expect(html).not.toContain("[[[[");
    const store = openSessionStore(join(dir, "deep.jsonl"), { readOnly: true });
    expect(whole(exportHtml(store, { secrets: ["some-secret-key"] }))).toContain("deep_tool");
  });

  it("F9 shows what is left of a damaged session, and says that it is damaged", () => {
    const user = {
      type: "message",
      id: "a",
      parentId: null,
      timestamp: "x",
      message: { role: "user", content: "still here" },
    };
    const html = pageOf(fileOf("damaged <x>.jsonl", [user, '{"type":"message","id":"b","par']));
    expect(html).toContain("still here");
    expect(html).toMatch(/<p class="warning"[^>]*>⚠ [^<]*damaged &lt;x&gt;\.jsonl is damaged: 1 damaged line skipped/);
  });

  it("says so when nothing was said", () => {
    expect(whole(exportHtml(memorySession()))).toContain("Nothing has been said on this branch.");
  });

  it("draws tokens and cost by turn, in at most 96 bars", () => {
    const store = memorySession();
    for (let turn = 0; turn < 300; turn++) {
      say(store, `turn ${turn}`);
      reply(store, "ok");
    }
    const html = whole(exportHtml(store));
    expect(html.match(/class="hit"/g)).toHaveLength(2 * 75);
    expect(html).toContain("<title>Turns 1–4: 1,600 prompt tokens, 75% cached, 200 output tokens, $0.0120</title>");
    expect(html).toContain("Tokens per 4 turns");
  });

  it("O4 comes in pieces that are small against the whole", () => {
    const store = memorySession();
    for (let turn = 0; turn < 500; turn++) say(store, `${ALL_HOSTILE.slice(0, 500)} ${turn}`);
    const pieces = [...exportHtml(store)];
    const length = pieces.reduce((sum, piece) => sum + piece.length, 0);
    expect(Math.max(...pieces.map((piece) => piece.length))).toBeLessThan(length / 10);
  });
});
