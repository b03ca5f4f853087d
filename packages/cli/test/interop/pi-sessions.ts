import { spawnSync } from "node:child_process";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";

const { TAU_TEST_PI = "", TAU_TEST_NODE24 = "" } = process.env;

/** A session as pi's own reader shows it. */
export interface PiView {
  readonly thinkingLevel: string;
  readonly model: { readonly provider: string; readonly modelId: string } | null;
  readonly messages: readonly Record<string, unknown>[];
}

/** What is done to each file: `s` is pi's SessionManager of it. */
type Deed = "" | "context edit" | "branch" | "compaction";

const DEEDS: Record<Deed, string> = {
  "": "",
  "context edit": `s.appendContextEdit(found("original words"), { content: "edited words" });`,
  branch: `s.branch(found("note for the model")); s.appendCustomEntry("pi-extension", { n: 2 });`,
  compaction: `s.appendCompaction("The summary.", found("original words"), 1000);`,
};

/** Opens session files with pi's SessionManager, does something to each with it, and gives what the model would see. */
export function byPi(paths: readonly string[], deed: Deed = ""): PiView[] {
  const index = pathToFileURL(join(dirname(TAU_TEST_PI), "..", "index.js")).href;
  const program = `
    import { readFileSync } from "node:fs";
    import { SessionManager } from ${JSON.stringify(index)};
    const views = JSON.parse(readFileSync(0, "utf8")).map((path) => {
      const s = SessionManager.open(path);
      const found = (words) => s.getEntries().find((entry) => JSON.stringify(entry).includes(words)).id;
      ${DEEDS[deed]}
      const { messages, thinkingLevel, model } = s.buildSessionContext();
      return { messages, thinkingLevel, model };
    });
    process.stdout.write(JSON.stringify(views));`;
  const { status, stdout, stderr } = spawnSync(TAU_TEST_NODE24, ["--input-type=module", "-e", program], {
    input: JSON.stringify(paths),
    encoding: "utf8",
    maxBuffer: 1 << 28,
  });
  if (status !== 0) throw new Error(`pi's reader ended with ${status}: ${stderr}`);
  return JSON.parse(stdout);
}
