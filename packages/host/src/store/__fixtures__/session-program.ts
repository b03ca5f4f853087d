// A process that works on a session as the command does. Prints what it did, one line each; lines of stdin drive it.
import { createInterface } from "node:readline";
import type { EntryDraft } from "../entries.ts";
import { createSessionStore, openSessionStore } from "../open-session.ts";
import type { SessionStore } from "../session-store.ts";

const [task = "", target = "", count = "0"] = process.argv.slice(2);
const say = (line: string): void => console.log(line);
const said = (text: string): EntryDraft => ({ type: "message", message: { role: "user", content: text, timestamp: 1 } });

const TASKS: Record<string, () => void> = {
  /** Appends for ever and prints each id after its append. */
  append() {
    const store = openSessionStore(target);
    for (let i = 0; ; i++) process.stdout.write(`${store.append(said(`message ${i} ${"x".repeat(i % 3000)}`)).id}\n`);
  },
  /** Opens as the writer, says how it went, and holds the session until stdin ends. */
  hold() {
    const store = open();
    if (!store) return;
    createInterface({ input: process.stdin }).on("line", (line) => say(`appended ${store.append(said(line)).id}`)).on("close", () => process.exit(0));
  },
  /** Waits for a line, then tries to become the writer. */
  race() {
    say("ready");
    const input = createInterface({ input: process.stdin });
    input.once("line", () => {
      const store = open();
      if (store) input.on("close", () => store.close());
      else input.close();
    });
  },
  /** Makes a session of `count` messages of 500 characters, and says how the recording stands after each. */
  fill() {
    const store = createSessionStore({ cwd: "/full", sessionsDir: target, id: "full" });
    for (let i = 0; i < Number(count); i++) {
      store.append(said(`message ${i} ${"x".repeat(500)}`));
      say(`${i} ${JSON.stringify(store.recording)}`);
    }
    say(`path ${store.path}`);
    store.close();
    say(`closed ${JSON.stringify(store.recording)}`);
  },
};

function open(): SessionStore | undefined {
  try {
    const store = openSessionStore(target);
    say(`won ${process.pid}`);
    return store;
  } catch (error) {
    say(`refused ${error instanceof Error ? `${error.name}: ${error.message}` : String(error)}`);
    return undefined;
  }
}

TASKS[task]?.();
