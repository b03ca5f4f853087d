import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { labelEntry, renameSession } from "../../store/navigate.ts";
import { openSessionStore } from "../../store/open-session.ts";
import { writeHostileSession } from "../__fixtures__/hostile-session.ts";
import { answer, memorySession, reply, say, toolCall, whole } from "../__fixtures__/sessions.ts";
import { exportMarkdown } from "./document.ts";

let dir: string;
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), "tau-export-md-"));
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

describe("exportMarkdown", () => {
  it("has what was said on the current branch as text, and folds the rest", () => {
    const store = memorySession();
    renameSession(store, "A *name*");
    const a = say(store, "please **look**");
    reply(store, "old way");
    store.moveLeaf(a.id);
    const b = reply(store, [
      { type: "thinking", thinking: "hm" },
      { type: "text", text: "I look." },
      toolCall("c", "bash", { command: "ls" }),
    ]);
    answer(store, "c", "```\nfile\n```", { details: { exitCode: 1 }, isError: true });
    labelEntry(store, b.id, "here");
    store.append({ type: "compaction", summary: "so far", firstKeptEntryId: b.id, tokensBefore: 5000 });
    const text = whole(exportMarkdown(store));
    expect(text).toMatch(/^<!-- tau export [0-9a-f]{32} -->\n\n# A &#42;name&#42;\n/);
    expect(text).toContain("- 1 other branch, not in this file\n");
    expect(text).not.toContain("old way");
    expect(text.slice(text.indexOf("## You"))).toBe(`## You · 2026-03-04 09:00

please **look**

## Assistant · 2026-03-04 09:00

*Label: here*

<details><summary>Thinking</summary>

hm

</details>

I look.

<details><summary>bash: ls</summary>

\`\`\`sh
ls
\`\`\`

</details>

<details><summary>Result of bash (exit 1)</summary>

\`\`\`\`
\`\`\`
file
\`\`\`
\`\`\`\`

</details>

---

<details><summary>Compacted at 5k tokens: the summary</summary>

so far

</details>

`);
  });

  it("F8 names a failed attempt that was taken out", () => {
    const store = memorySession();
    say(store, "go");
    const failed = reply(store, "half", { stopReason: "error", errorMessage: "529" });
    store.append({ type: "context_edit", targetId: failed.id, replacement: null });
    expect(whole(exportMarkdown(store))).toContain(
      "*Not in the model’s context: taken out after it was said.*\n\nhalf\n\n**The request failed:** 529\n\n",
    );
  });

  it("R182 holds no tag but its own outside of code, whatever the session says", () => {
    const path = join(dir, "hostile.jsonl");
    writeHostileSession(path);
    const text = whole(exportMarkdown(openSessionStore(path, { readOnly: true })));
    const outside = withoutCode(text)
      .replace(/<\/?(?:details|summary)>/g, "")
      .replace(/^<!-- tau export [0-9a-f]+ -->/, "");
    expect(outside.match(/<.{0,40}/g)).toBe(null);
    expect(outside.match(/!\[.{0,40}/g)).toBe(null);
    expect(outside.match(/\]\((?!https:).{0,40}/g)).toBe(null);
  });
});

/** The text without fences at the beginning of a line and without code spans of one line. */
function withoutCode(text: string): string {
  return text
    .replace(/^(`{3,}|~{3,})[^`\n]*\n[\s\S]*?^\1[`~]*$/gm, "")
    .replace(/(?<!`)(`+)(?!`)[^`\n]+(?<!`)\1(?!`)/g, "");
}
