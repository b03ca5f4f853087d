import { describe, expect, it } from "vitest";
import { assistant, user } from "./__fixtures__/drafts.ts";
import { createMemoryStore } from "./open-session.ts";
import { persistedQueues, recordQueues } from "./queue-record.ts";
import type { SessionStore } from "./session-store.ts";

const said = (content: string) => ({ role: "user" as const, content, timestamp: 10 });
const fresh = (): SessionStore => {
  const store = createMemoryStore({ cwd: "/work" });
  store.append(user("go"));
  return store;
};
const texts = (store: SessionStore) => {
  const { steering, followUp, dropped } = persistedQueues(store);
  const of = (list: typeof steering) => list.map((message) => ("content" in message ? message.content : ""));
  return { steering: of(steering), followUp: of(followUp), dropped: of(dropped) };
};
const BOTH = {
  steering: [said("same"), said("same")],
  followUp: [said("later")],
  queueIds: { steering: ["a", "b"], followUp: ["c"] },
};

describe("queues in the file", () => {
  it("Q4 a message is known by its id, whatever it says and whatever a hook made of it", () => {
    const store = fresh();
    recordQueues(store, BOTH);
    store.append({ type: "message", message: said("another text"), queueId: "b" });
    expect(persistedQueues(store)).toEqual({
      steering: [said("same")],
      followUp: [said("later")],
      queueIds: { steering: ["a"], followUp: ["c"] },
      dropped: [],
    });
    store.append({ type: "custom_message", customType: "x", content: "later", display: true, queueId: "c" });
    expect(texts(store)).toEqual({ steering: ["same"], followUp: [], dropped: [] });
  });

  it("Q4 what the same program was sent beside the queue leaves the queue alone", () => {
    const store = fresh();
    recordQueues(store, BOTH);
    store.append(assistant("working"));
    store.append({ type: "message", message: said("same"), queueId: "a prompt of its own" });
    expect(texts(store).steering).toEqual(["same", "same"]);
  });

  it.each([
    ["on the same branch", (_: SessionStore) => undefined],
    ["on another branch", (store: SessionStore) => store.moveLeaf(store.entries()[0]?.id ?? null)],
  ])("R295 a user's message of another program %s drops what waited", (_, move) => {
    const store = fresh();
    recordQueues(store, BOTH);
    store.append({ type: "message", message: said("same"), queueId: "a" });
    move(store);
    store.append(user("said elsewhere"));
    store.append(assistant("answered elsewhere"));
    expect(texts(store)).toEqual({ steering: [], followUp: [], dropped: ["same", "later"] });
    recordQueues(store, { steering: [], followUp: [], queueIds: { steering: [], followUp: [] } });
    expect(texts(store).dropped).toEqual([]);
  });

  it("Q4 R295 records of old files, which have no ids, are read: by the very message", () => {
    const store = fresh();
    recordQueues(store, { steering: BOTH.steering, followUp: BOTH.followUp });
    store.append({ type: "message", message: said("same") });
    expect(persistedQueues(store)).toEqual({ steering: [said("same")], followUp: [said("later")], dropped: [] });
    store.append(user("said elsewhere"));
    expect(texts(store)).toEqual({ steering: [], followUp: [], dropped: ["same", "later"] });
  });

  it.each([
    ["no object", []],
    ["no lists", { steering: "x", followUp: 3 }],
    ["no messages", { steering: [null, "x", { role: 7 }], followUp: [], queueIds: { steering: [1, 2, 3] } }],
  ])("R103 a record with %s is an empty queue", (_, data) => {
    const store = fresh();
    store.append({ type: "custom", customType: "tau.queue", data });
    expect(texts(store)).toEqual({ steering: [], followUp: [], dropped: [] });
  });
});
