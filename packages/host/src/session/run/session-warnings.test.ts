import { reply } from "@tau/llm/testing";
import { expect, it } from "vitest";
import { cleanUpAfterEach, startSession } from "../__fixtures__/harness.ts";

cleanUpAfterEach();

it("R210 what a provider says of its requests is shown once a session", async () => {
  const { session, events } = await startSession(({ options }, index) => {
    options.onWarning?.('mk/m refused "temperature"; it is left out.');
    if (index === 1) options.onWarning?.('mk/m takes at most 8192 as "max_tokens"; it is kept to that.');
    return reply("ok");
  });
  await session.prompt("one");
  await session.prompt("two");
  await session.prompt("three");
  expect(events.filter(({ type }) => type === "warning")).toEqual([
    { type: "warning", message: 'mk/m refused "temperature"; it is left out.' },
    { type: "warning", message: 'mk/m takes at most 8192 as "max_tokens"; it is kept to that.' },
  ]);
});
