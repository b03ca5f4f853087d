import { emptyAssistantMessage } from "@tau/llm";
import { describe, expect, it } from "vitest";
import { UsageWatch } from "./usage-watch.ts";

const MODEL = { id: "m", api: "openai-completions", provider: "local" };

/** One reply: tokens that were sent by our estimate, and tokens that the server says it read. */
type Reply = readonly [sent: number, read: number];

/** The replies that are spoken of, by their number. */
function noticed(replies: readonly Reply[]): number[] {
  const watch = new UsageWatch();
  return replies.flatMap(([sent, read], index) => {
    const message = emptyAssistantMessage(MODEL, 0);
    const reply = { ...message, usage: { ...message.usage, input: read, totalTokens: read } };
    return watch.check(reply, sent) ? [index] : [];
  });
}

describe("UsageWatch", () => {
  it.each<[string, readonly Reply[], number[]]>([
    ["R042 a long prompt of which a window of 4,096 was read", [[30_000, 4_096]], [0]],
    [
      "R042 a small one first, then a long one",
      [
        [1_000, 1_000],
        [31_000, 4_096],
      ],
      [1],
    ],
    [
      "R042 a context that grows beyond the window, once it cannot be what is new",
      [
        [9_000, 8_000],
        [21_000, 8_192],
        [22_000, 8_192],
      ],
      [2],
    ],
    [
      "R209 a server that counts only what its cache did not have",
      [
        [12_000, 12_000],
        [12_800, 800],
        [14_900, 2_100],
      ],
      [],
    ],
    [
      "R209 such a server after a large result of a tool",
      [
        [30_000, 29_000],
        [40_000, 10_500],
      ],
      [],
    ],
    ["R209 such a server that still has the session in its cache when it is resumed", [[30_000, 240]], []],
    ["a server that says nothing of what it read", [[30_000, 0]], []],
    ["an estimate that is off by two", [[30_000, 16_000]], []],
  ])("%s", (_, replies, numbers) => {
    expect(noticed(replies)).toEqual(numbers);
  });
});
