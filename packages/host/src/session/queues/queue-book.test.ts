import type { AgentMessage } from "@tau/agent";
import { describe, expect, it } from "vitest";
import { QueueBook } from "./queue-book.ts";

const user = (content: string): AgentMessage => ({ role: "user", content, timestamp: 1 });
const custom = (content: string): AgentMessage => {
  return { role: "custom", customType: "note", content, display: true, timestamp: 1 };
};
const copy = (message: AgentMessage): AgentMessage => JSON.parse(JSON.stringify(message));

describe("the book of queued messages", () => {
  it("Q4 a message leaves it once, as itself or as the copy that the loop made of it", () => {
    let changes = 0;
    const book = new QueueBook(() => changes++);
    const messages = [user("same"), user("same"), custom("noted"), user("other")];
    for (const message of messages) book.add("steering", message);
    expect(book.delivered(copy(custom("noted")))).toBe(true);
    expect(book.delivered(copy(custom("noted")))).toBe(false);
    expect(book.delivered(copy(user("same")))).toBe(true);
    expect(book.texts()).toEqual({ steering: ["same", "other"], followUp: [] });
    expect(changes).toBe(6);
  });

  it("Q5 what is handed back is taken out, copies too, each once", () => {
    let changes = 0;
    const book = new QueueBook(() => changes++);
    for (const message of [user("a"), user("a"), custom("c"), user("b")]) book.add("followUp", message);
    book.remove([copy(user("a")), copy(custom("c")), copy(user("unknown"))]);
    expect(book.all()).toEqual([user("a"), user("b")]);
    book.remove([user("unknown")]);
    expect(changes).toBe(5);
  });
});
