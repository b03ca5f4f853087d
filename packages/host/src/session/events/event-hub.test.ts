import { describe, expect, it } from "vitest";
import { EventHub, type HubFailure } from "./event-hub.ts";

function setup() {
  const failures: HubFailure<string>[] = [];
  const hub = new EventHub<string>((failure) => failures.push(failure));
  const seen: string[] = [];
  return { hub, failures, seen };
}

describe("delivery of events", () => {
  it("L1 listeners are awaited one after another, and an event that a listener emits comes after its own", async () => {
    const { hub, seen } = setup();
    hub.subscribe(async (event) => {
      seen.push(`a ${event}`);
      if (event === "1") void hub.emit("2");
      await new Promise<void>((resolve) => setTimeout(resolve, 0));
      seen.push(`a done ${event}`);
    });
    hub.subscribe((event) => {
      seen.push(`b ${event}`);
    });
    await hub.emit("1");
    await hub.emit("3");
    expect(seen).toEqual(["a 1", "a done 1", "b 1", "a 2", "a done 2", "b 2", "a 3", "a done 3", "b 3"]);
  });

  it("costs no promise while all listeners are synchronous", () => {
    const { hub, seen } = setup();
    hub.subscribe((event) => void seen.push(event));
    expect(hub.emit("x")).toBeUndefined();
    expect(seen).toEqual(["x"]);
  });

  it("L3 a listener that throws or rejects is reported and stays, the others get their event", async () => {
    const { hub, seen, failures } = setup();
    hub.subscribe(() => {
      throw new Error("sync");
    });
    hub.subscribe(() => Promise.reject(new Error("async")), true);
    hub.subscribe((event) => void seen.push(event));
    await hub.emit("x");
    await hub.emit("y");
    expect(seen).toEqual(["x", "y"]);
    expect(failures.map(({ event, essential, error }) => [event, essential, String(error)])).toEqual([
      ["x", false, "Error: sync"],
      ["x", true, "Error: async"],
      ["y", false, "Error: sync"],
      ["y", true, "Error: async"],
    ]);
  });

  it("L4 subscribing and leaving in a listener hold from the next event", async () => {
    const { hub, seen } = setup();
    const leave = hub.subscribe((event) => {
      seen.push(`first ${event}`);
      leave();
      hub.subscribe((later) => void seen.push(`second ${later}`));
    });
    hub.emit("1");
    hub.emit("2");
    expect(seen).toEqual(["first 1", "second 2"]);
  });

  it("R002 in a hurry a listener that never ends holds nothing up", async () => {
    const { hub, seen } = setup();
    hub.subscribe(() => new Promise(() => undefined));
    hub.subscribe((event) => void seen.push(event));
    const delivered = hub.emit("stuck");
    expect(seen).toEqual([]);
    hub.hurry();
    await delivered;
    hub.emit("next");
    expect(seen).toEqual(["stuck", "next"]);
    hub.calmDown();
  });
});
