import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { createSessionStore } from "../store/open-session.ts";
import { openStore, type StorePlace } from "./open-store.ts";

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

/** A place in which another process makes a session just when this one has looked and found none. */
function contestedPlace(id: string): { place: StorePlace; made: () => string | undefined } {
  const sessionsDir = mkdtempSync(join(tmpdir(), "tau-open-"));
  folders.push(sessionsDir);
  let looks = 0;
  let made: string | undefined;
  const place = {
    cwd: "/work",
    get sessionsDir() {
      // The first two are the look; the third is the claim.
      if (++looks === 3) {
        const store = createSessionStore({ sessionsDir, cwd: "/work", id, claim: true });
        store.append({ type: "message", message: { role: "user", content: "first", timestamp: 1 } });
        made = store.path;
        store.close();
      }
      return sessionsDir;
    },
  };
  return { place, made: () => made };
}

describe("openStore", () => {
  it("R336 opens a session of the chosen id that another process made between the look and the claim", () => {
    const { place, made } = contestedPlace("mine");
    const store = openStore({ id: "mine" }, place);
    expect(made()).toBeDefined();
    expect(store.path).toBe(made());
    expect(store.entries()).toHaveLength(1);
    store.close();
  });
});
