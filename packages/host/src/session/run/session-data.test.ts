import { failure, reply, type ScriptStep, toolCall } from "@tau/llm/testing";
import { describe, expect, it } from "vitest";
import { cleanUpAfterEach, reopen, startSession, tool } from "../__fixtures__/harness.ts";

cleanUpAfterEach();

const schema = {
  type: "object",
  properties: { name: { type: "string" }, stars: { type: "integer", minimum: 1 } },
  required: ["name", "stars"],
};
const heron = { name: "heron", stars: 3 };
const answer = (args: object, name = "give_answer") => reply(toolCall(name, { ...args }));

describe("a prompt with a schema", () => {
  const given: [name: string, steps: ScriptStep[], requests: number][] = [
    ["called at once", [answer(heron)], 1],
    ["called after other tools", [reply("I look.", toolCall("calc")), answer(heron)], 2],
    ["called beside another tool", [reply(toolCall("calc"), toolCall("give_answer", heron))], 1],
    ["of another JSON type that is plainly meant", [answer({ name: "heron", stars: "3" })], 1],
    ["called after a call that did not fit", [answer({ name: "heron" }), answer(heron)], 2],
    ["called when it is asked for", [reply("A heron, three stars."), answer(heron)], 2],
    ["as text", [reply(JSON.stringify(heron))], 1],
    ["as a block of code", [reply(`\`\`\`json\n${JSON.stringify(heron, null, 2)}\n\`\`\``)], 1],
    ["called after a failure that passed", [failure("503", "retryable"), answer(heron)], 2],
  ];
  it.each(given)("R282 gives the data of an answer %s", async (_name, steps, requests) => {
    const { session, script, events } = await startSession(steps, { tools: [tool("calc")] });
    const outcome = await session.prompt<typeof heron>("Which bird?", { schema });
    expect(outcome).toMatchObject({ status: "done", data: heron });
    expect(script.calls).toHaveLength(requests);
    expect(events.findLast(({ type }) => type === "agent_settled")).toMatchObject({ outcome: { data: heron } });
  });

  const none: [name: string, steps: ScriptStep[], problem: RegExp][] = [
    ["that never fits", Array(9).fill(answer({ name: "heron", stars: 0 })), /stars/],
    ["that stays text", Array(9).fill(reply("A heron.")), /answered in text/],
    ["in text that does not fit", Array(9).fill(reply('{"name":"heron"}')), /text/],
  ];
  it.each(none)("R282 an answer %s is a failure with its reason, after three tries", async (_name, steps, problem) => {
    const { session, script } = await startSession(steps);
    const outcome = await session.prompt("Which bird?", { schema });
    expect(outcome).toMatchObject({ status: "error", failure: { code: "no_data", params: { tries: 3 } } });
    expect(outcome.status === "error" && outcome.errorMessage).toMatch(problem);
    expect(script.calls).toHaveLength(3);
  });

  it("R282 other endings stay what they are", async () => {
    const { session } = await startSession([failure("no credit", "quota")]);
    expect(await session.prompt("Which bird?", { schema })).toMatchObject({ status: "error", errorKind: "quota" });
    const limited = await startSession([reply(toolCall("calc"))], {
      tools: [tool("calc")],
      settings: { budget: { maxTurns: 1 } },
    });
    expect(await limited.session.prompt("Which bird?", { schema })).toMatchObject({
      status: "limit",
      limit: "maxTurns",
    });
    const exact = await startSession([answer(heron)], { settings: { budget: { maxTurns: 1 } } });
    expect(await exact.session.prompt("Which bird?", { schema })).toMatchObject({ status: "done", data: heron });
  });

  const values: [schema: object, data: unknown][] = [
    [{ type: "array", items: { type: "string" } }, ["a", "b"]],
    [{ type: "string", enum: ["yes", "no"] }, "yes"],
    [{ type: "number" }, 4],
    [{ anyOf: [{ type: "null" }, { type: "object" }] }, null],
    [{ $ref: "#/$defs/bird", $defs: { bird: schema } }, heron],
  ];
  it.each(values)("R282 takes a schema that is not of an object: %j", async (other, data) => {
    const called = await startSession([answer({ value: data })]);
    expect(await called.session.prompt("Go.", { schema: { ...other } })).toMatchObject({ status: "done", data });
    const told = await startSession([reply(JSON.stringify(data))]);
    expect(await told.session.prompt("Go.", { schema: { ...other } })).toMatchObject({ status: "done", data });
  });

  it("R282 nobody is asked whether the answer may be given, and a tool of the program keeps its name", async () => {
    const asked: string[] = [];
    const permission = {
      async decide({ toolName }: { toolName: string }) {
        asked.push(toolName);
        return { action: "deny" as const, reason: "never" };
      },
    };
    const tools = [tool("give_answer")];
    const { session } = await startSession([reply(toolCall("give_answer")), answer(heron, "give_answer_")], {
      tools,
      permission,
    });
    expect(await session.prompt("Which bird?", { schema })).toMatchObject({ status: "done", data: heron });
    expect(asked).toEqual(["give_answer"]);
  });

  it("R282 the tool is there for this prompt only, also when tools change on the way or the session is opened again", async () => {
    const change = tool("calc", () => session.configure({ tools: [tool("more")] }));
    const harness = await startSession([reply(toolCall("calc")), reply("hm"), answer(heron), reply("next")], {
      tools: [change],
    });
    const { session, script } = harness;
    expect(await session.prompt("Which bird?", { schema })).toMatchObject({ data: heron });
    expect(await session.prompt("And now?")).toEqual(expect.not.objectContaining({ data: expect.anything() }));
    const toolsOf = (call: (typeof script.calls)[number] | undefined) =>
      JSON.stringify(call?.context.messages.at(-2) ?? "");
    expect(toolsOf(script.calls[3])).toContain("give_answer");
    const later = await reopen(harness, [reply("there")]);
    expect(await later.session.prompt("Still?")).toMatchObject({ status: "done", text: "there" });
  });

  it("R282 it is refused during a run, and for something else than a schema", async () => {
    const { session } = await startSession([reply("one")]);
    const first = session.prompt("go");
    await expect(session.prompt("Which bird?", { schema, streamingBehavior: "steer" })).rejects.toMatchObject({
      code: "busy",
    });
    await first;
    const wrong = JSON.parse('"string"');
    await expect(session.prompt("Which bird?", { schema: wrong })).rejects.toMatchObject({ code: "invalid_field" });
  });
});
