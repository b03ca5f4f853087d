import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { openSessionStore } from "../../store/open-session.ts";
import type { SessionStore } from "../../store/session-store.ts";
import { Chromium, hasChromium, type Page } from "../__fixtures__/chromium.ts";
import { HOSTILE } from "../__fixtures__/hostile.ts";
import { writeHostileSession } from "../__fixtures__/hostile-session.ts";
import { answer, memorySession, reply, say, toolCall, whole } from "../__fixtures__/sessions.ts";
import { exportHtml } from "./page.ts";

// A machine without a browser may leave this out; the project's own check may not.
const mayBeSkipped = !hasChromium() && process.env.CI !== "true";

let dir: string;
let browser: Chromium;

const WAS_HARMED = "'PWNED' in window";

describe("the page in a browser", () => {
  beforeEach(({ skip }) => skip(mayBeSkipped, "Chromium is not installed"));
  beforeAll(() => {
    if (mayBeSkipped) return;
    expect(hasChromium(), "chromium is not on the PATH: apt-get install chromium").toBe(true);
    dir = mkdtempSync(join(tmpdir(), "tau-export-page-"));
    browser = new Chromium();
  });
  afterAll(async () => {
    if (mayBeSkipped) return;
    await browser.close();
    rmSync(dir, { recursive: true, force: true });
  });

  const open = (name: string, html: string): Promise<Page> => {
    const path = join(dir, name);
    writeFileSync(path, html);
    return browser.open(pathToFileURL(path).href);
  };
  const openSession = (store: SessionStore) => open("session.html", whole(exportHtml(store)));

  it("R182 nothing that a session says runs, loads or asks for anything, wherever it stands", async () => {
    const session = join(dir, "hostile.jsonl");
    writeHostileSession(session);
    const page = await open("hostile.html", whole(exportHtml(openSessionStore(session, { readOnly: true }))));
    expect(await page.evaluate(WAS_HARMED)).toBe(false);
    expect(await page.evaluate("document.documentElement.dataset.ready")).toBe("true");
    // Opened, hovered, focused and clicked, it is still text.
    await page.evaluate(`
      for (const details of document.querySelectorAll("details")) details.open = true;
      for (const section of document.querySelectorAll("section")) section.hidden = false;
      for (const element of document.querySelectorAll("body *")) {
        for (const type of ["mouseover", "focus"]) element.dispatchEvent(new Event(type));
        if (!element.closest("a")) element.dispatchEvent(new MouseEvent("click", { bubbles: true }));
      }
      new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)))`);
    expect(await page.evaluate(WAS_HARMED)).toBe(false);
    expect(
      await page.evaluate(
        "document.scripts.length + document.querySelectorAll('iframe,object,embed,form,base,link,style ~ style').length",
      ),
    ).toBe(1);
    expect(page.requests).toEqual([]);
    // Not even the policy had anything to do.
    expect(page.complaints).toEqual([]);
    const schemes: string[] = await page.evaluate(
      "[...new Set([...document.querySelectorAll('[href]')].map((a) => a.getAttribute('href').replace(/^#e[0-9]+$/, '#').split(':')[0]))]",
    );
    expect(schemes.sort()).toEqual(["#", "https"]);
    const handlers =
      "[...document.querySelectorAll('*')].filter((e) => e.getAttributeNames().some((n) => /^on|^style$|^srcdoc$/.test(n))).length";
    expect(await page.evaluate(handlers)).toBe(0);
  });

  it("R182 what would get by the escaping is stopped by the page's policy", async () => {
    const store = memorySession();
    say(store, "PLACE");
    const hostile = whole(exportHtml(store)).replaceAll("PLACE", () => HOSTILE.slice(0, 12).join("\n"));
    const page = await open("unescaped.html", hostile);
    await page.evaluate("new Promise((resolve) => setTimeout(resolve, 50))");
    expect(await page.evaluate(WAS_HARMED)).toBe(false);
    expect(page.complaints.join("\n")).toContain("Content Security Policy");
    expect(page.requests).toEqual([]);
    // Without the policy the same page is lost: the marker of these tests works.
    const open2 = await open("unsafe.html", hostile.replace(/<meta http-equiv="Content-Security-Policy"[^>]*>/, ""));
    await open2.evaluate("new Promise((resolve) => setTimeout(resolve, 50))");
    expect(await open2.evaluate(WAS_HARMED)).toBe(true);
  });

  it("shows one branch at a time, and another one at a click or by a link into it", async () => {
    const store = memorySession();
    say(store, "first");
    const fork = reply(store, "answer");
    const edited = store.append({ type: "context_edit", targetId: fork.id, replacement: null });
    say(store, "old way");
    reply(store, "old end");
    store.moveLeaf(fork.id);
    say(store, "new way");
    const page = await openSession(store);
    const seen = () =>
      page.evaluate(
        "[...document.querySelectorAll('main .prose')].filter((e) => e.checkVisibility()).map((e) => e.textContent)",
      );
    const isDropped = () => page.evaluate("document.querySelector('.said.assistant').classList.contains('dropped')");
    expect(await seen()).toEqual(["first", "answer", "new way"]);
    expect(await isDropped()).toBe(false);
    await page.evaluate(
      "[...document.querySelectorAll('.tree button')].find((b) => b.textContent.includes('old way')).click()",
    );
    expect(await seen()).toEqual(["first", "answer", "old way", "old end"]);
    expect(await isDropped()).toBe(true);
    expect(await page.evaluate("document.querySelectorAll('.tree [aria-current]').length")).toBe(2);
    const target = store
      .entries()
      .findIndex((entry) => entry.type === "message" && JSON.stringify(entry).includes("new way"));
    await page.evaluate(
      `location.hash = "#e${target}"; new Promise((resolve) => addEventListener("hashchange", () => setTimeout(resolve), { once: true }))`,
    );
    expect(await seen()).toEqual(["first", "answer", "new way"]);
    expect(edited.type).toBe("context_edit");
  });

  it("folds calls and thinking, and has switches for the folds, the talk and the colours", async () => {
    const store = memorySession();
    store.append({
      type: "message",
      message: { role: "system", content: "", sections: { tau: "You are a test." }, timestamp: 1 },
    });
    say(store, "go");
    reply(store, [
      { type: "thinking", thinking: "hm" },
      { type: "text", text: "I look." },
      toolCall("c", "bash", { command: "ls" }),
    ]);
    answer(store, "c", "file.txt");
    const page = await openSession(store);
    const isSeen = (selector: string) => page.evaluate(`document.querySelector("${selector}").checkVisibility()`);
    const press = (name: string) => page.evaluate(`document.querySelector("[data-switch=${name}]").click()`);
    expect([await isSeen(".call"), await isSeen(".result"), await isSeen(".thinking .prose")]).toEqual([
      true,
      false,
      false,
    ]);
    await press("unfold");
    expect([await isSeen(".result"), await isSeen(".thinking .prose")]).toEqual([true, true]);
    // R275: what was said comes into view, not the system prompt.
    expect(await page.evaluate("[...document.querySelectorAll('.prompt')].map((details) => details.open)")).toEqual([
      false,
    ]);
    await press("talk");
    expect([await isSeen(".call"), await isSeen(".thinking"), await isSeen(".prose")]).toEqual([false, false, true]);
    const paper = () => page.evaluate("getComputedStyle(document.body).backgroundColor");
    const before = await paper();
    await press("theme");
    expect(await paper()).not.toBe(before);
    await press("theme");
    expect(await paper()).toBe(before);
  });

  it("fits a phone: nothing is wider than the screen", async () => {
    const store = memorySession(`/${"deep/".repeat(60)}`);
    say(store, "w".repeat(500));
    reply(store, [
      {
        type: "text",
        text: `| a | b |\n|---|---|\n| ${"x".repeat(300)} | y |\n\n\`\`\`\n${"long ".repeat(100)}\n\`\`\``,
      },
      toolCall("c", "b".repeat(200), { command: "x".repeat(500) }),
    ]);
    answer(store, "c", "y".repeat(2000), { details: { diff: `@@ -1 +1 @@\n+${"z".repeat(900)}` } });
    reply(store, "by a long name", { model: `${"org/".repeat(10)}${"model".repeat(20)}` });
    const page = await openSession(store);
    await page.resize({ width: 360, height: 780 });
    const widths = await page.evaluate(`(() => {
      for (const details of document.querySelectorAll("details")) details.open = true;
      return [document.documentElement.scrollWidth, document.querySelector("main").scrollWidth, document.querySelector(".top").scrollWidth];
    })()`);
    expect(Math.max(...widths)).toBeLessThanOrEqual(360);
    const lines = await page.evaluate(`(() => {
      for (const card of document.querySelectorAll(".card")) card.open = false;
      const linesOf = (title) => title.getBoundingClientRect().height / parseFloat(getComputedStyle(title).fontSize);
      return Math.max(...[...document.querySelectorAll(".card h2")].map(linesOf));
    })()`);
    // A title beside a long model name or folder stays on one line.
    expect(lines).toBeLessThan(3);
  });
});
