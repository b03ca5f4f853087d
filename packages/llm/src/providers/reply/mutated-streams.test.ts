import { readdirSync, readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, inject, it } from "vitest";
import type { AssistantMessageEvent } from "../../protocol/events.ts";
import type { AssistantMessage } from "../../protocol/message.ts";
import { mutate, mutations } from "../__fixtures__/mutate-stream.ts";
import { APIS, type Api, readReply, wireOf } from "../__fixtures__/read-reply.ts";

declare module "vitest" {
  export interface ProvidedContext {
    /** Mutated streams of each API and their seed; given by scripts/soak.mjs. */
    mutatedStreams: { runs: number; seed: number };
  }
}

// Small enough for every run of the tests, and the same each time.
const { runs, seed } = inject("mutatedStreams") ?? { runs: 400, seed: 20_261 };
/** Milliseconds for one stream: hundreds of times what one takes. */
const PATIENCE_MS = 20_000;

/** Recorded streams, and one of every kind of block. */
function bodiesOf(api: Api): string[] {
  const folder = new URL(`../${api}/__fixtures__/`, import.meta.url);
  const names = readdirSync(folder).filter((name) => name.endsWith(".sse"));
  const wire = wireOf(api);
  const all = wire.sse(
    ...[...wire.begin(), ...wire.text("Let ", "me ", "look.")],
    ...wire.call("c1", "bash", ['{"comm', 'and":"ls"', "}"]),
    ...[...wire.text('<tool_call>{"name":"read",', '"arguments":{}}</tool_call>'), ...wire.call("c2", "read", ["{}"])],
    ...wire.end("calls", { input_tokens: 9, prompt_tokens: 9, output_tokens: 3, completion_tokens: 3 }),
  );
  return [all, ...names.map((name) => readFileSync(new URL(name, folder), "utf8"))];
}

/** Texts of faults in our own code, which the reader would show as failures of unknown kind. */
const OWN_FAULTS =
  /Cannot (read|set|convert|mix)|is not (a function|iterable|an open|defined|open)|can take no signature|call stack|Invalid (array|string) length|circular/;

/** The laws that every reply keeps, whatever the server sends (S1, S3, S4, E1). */
function checkReply(events: readonly AssistantMessageEvent[], message: AssistantMessage): void {
  const types = events.map(({ type }) => type);
  expect(types[0]).toBe("start");
  expect(types.filter((type) => type === "start")).toHaveLength(1);
  expect(types.filter((type) => type === "done" || type === "error")).toEqual([types.at(-1)]);
  const blocks: { kind: string | undefined; text: string; ended: boolean }[] = [];
  for (const event of events) {
    if (!("contentIndex" in event)) continue;
    const [kind, step] = event.type.split("_");
    if (step === "start") {
      expect(event.contentIndex).toBe(blocks.length);
      blocks.push({ kind, text: "", ended: false });
    }
    const block = blocks[event.contentIndex];
    expect(block).toMatchObject({ kind, ended: false });
    if (!block) return;
    if ("delta" in event) block.text += event.delta;
    if (event.type === "text_end" || event.type === "thinking_end") expect(event.content).toBe(block.text);
    if (event.type === "toolcall_end") expect(event.toolCall).toEqual(message.content[event.contentIndex]);
    block.ended = step === "end";
  }
  expect(blocks.every(({ ended }) => ended)).toBe(true);
  expect(message.content).toHaveLength(blocks.length);
  for (const [index, block] of message.content.entries()) checkBlock(block, blocks[index]?.text);
  checkEnd(message);
}

function checkBlock(block: AssistantMessage["content"][number], text: string | undefined): void {
  if (block.type === "text") expect(block.text).toBe(text);
  if (block.type === "thinking") expect(block.thinking).toBe(text);
  if (block.type !== "toolCall") return;
  expect(block.id).not.toBe("");
  expect(typeof block.name).toBe("string");
  expect(Object.getPrototypeOf(block.arguments)).toBe(Object.prototype);
}

function checkEnd(message: AssistantMessage): void {
  const { cost, ...counts } = message.usage;
  for (const figure of [...Object.values(counts), ...Object.values(cost)]) expect(Number.isFinite(figure)).toBe(true);
  const ids = message.content.flatMap((block) => (block.type === "toolCall" ? [block.id] : []));
  expect(new Set(ids).size).toBe(ids.length);
  expect(JSON.stringify(message).length).toBeGreaterThan(0);
  if (message.stopReason !== "error") {
    expect(["stop", "length", "toolUse"]).toContain(message.stopReason);
    return;
  }
  expect(message.errorMessage).toMatch(/\S/);
  expect(message.errorMessage?.length).toBeLessThan(2000);
  expect(message.errorMessage).not.toMatch(OWN_FAULTS);
  expect(message.errorKind).toMatch(/\S/);
}

describe.each(APIS)("mutated streams of %s", (api) => {
  const bodies = bodiesOf(api);

  it("are good streams before", async () => {
    for (const body of bodies) {
      const { events, message } = await readReply(api, body);
      checkReply(events, message);
    }
  });

  it(
    "S1 S4 each ends in one done or one error, with valid content",
    async () => {
      const places = fc.array(fc.nat(), { maxLength: 6 });
      await fc.assert(
        fc.asyncProperty(
          fc.constantFrom(...bodies),
          mutations,
          places,
          fc.boolean(),
          async (body, list, cuts, broken) => {
            const bytes = mutate(body, list);
            const at = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
            const chunks = at.slice(1).map((end, index) => bytes.subarray(at[index], end));
            const { events, message } = await readReply(api, chunks, { broken });
            checkReply(events, message);
          },
        ),
        { numRuns: runs, seed, timeout: PATIENCE_MS },
      );
    },
    Math.max(60_000, runs * 50),
  );
});
