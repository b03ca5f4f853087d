import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type {
  AssistantContent,
  AssistantMessage,
  Message,
  ToolResultMessage,
  UserMessage,
} from "../../protocol/message.ts";
import type { Model, ThinkingLevel } from "../../protocol/model.ts";
import type { Context, StreamOptions } from "../../protocol/request.ts";
import { scriptedModel } from "../../scripted/script.ts";
import type { StrictRules } from "../../scripted/strict-checker.ts";
import { checkResponsesRequest } from "../../scripted/strict-responses.ts";
import { emptyAssistantMessage } from "../../stream/assembler.ts";
import { anyTranscript } from "../__fixtures__/any-transcript.ts";
import { type Adjustments, NO_ADJUSTMENTS } from "../adjust/adjustments.ts";
import { encodeRequest } from "./encode.ts";

const MODEL = scriptedModel({
  ...{ id: "m", api: "openai-responses", provider: "vendor", baseUrl: "https://api.openai.com/v1" },
  ...{ input: ["text", "image"], contextWindow: 200_000, maxTokens: 100_000 },
});
const REASONING = { ...MODEL, reasoning: true };
const LOCAL = { ...REASONING, baseUrl: "http://127.0.0.1:9/v1" };

type Body = Record<string, unknown> & { input: Record<string, unknown>[] };

function raw(model: Model, context: Context, options: StreamOptions = {}, more: Partial<Adjustments> = {}): string {
  const adjustments = { ...NO_ADJUSTMENTS, ...more };
  return Buffer.concat(encodeRequest({ model, context, options, adjustments }).body).toString();
}
const body = (...request: Parameters<typeof raw>): Body => JSON.parse(raw(...request)) as Body;
const inputOf = (messages: Message[], model: Model = MODEL, learned: Partial<Adjustments> = {}) =>
  body(model, { messages }, {}, learned).input;

const user = (content: UserMessage["content"]): UserMessage => ({ role: "user", content, timestamp: 1 });
const assistant = (content: AssistantMessage["content"], more: Partial<AssistantMessage> = {}): AssistantMessage => ({
  ...emptyAssistantMessage(MODEL, 1),
  ...{ content, ...more },
});
const text = (value: string, mark?: object) => ({
  ...{ type: "text" as const, text: value },
  ...(mark ? { textSignature: JSON.stringify({ v: 1, ...mark }) } : {}),
});
const thought = (thinking: string, item: object): AssistantContent => ({
  ...{ type: "thinking", thinking },
  thinkingSignature: JSON.stringify({ type: "reasoning", ...item }),
});
const image = { type: "image" as const, data: "iVBORw0KGgo=", mimeType: "image/png" };
const call = (id: string, args: Record<string, unknown> = {}) => ({
  ...{ type: "toolCall" as const, id, name: "read", arguments: args },
});
const result = (toolCallId: string, content: ToolResultMessage["content"] = [text("out")]): ToolResultMessage => ({
  ...{ role: "toolResult", toolCallId, toolName: "read", content, isError: false, timestamp: 1 },
});
const READ = {
  ...{ name: "read", description: "Reads a file" },
  parameters: { type: "object", properties: { path: { type: "string" } } },
};
const ENCRYPTED = { id: "rs_1", summary: [{ type: "summary_text", text: "hm" }], encrypted_content: "enc" };
const part = { type: "input_image", detail: "auto", image_url: "data:image/png;base64,iVBORw0KGgo=" };

const valid = (value: unknown, rules: StrictRules = {}) => expect(checkResponsesRequest(value, rules)).toEqual([]);

describe("the request", () => {
  it("has instructions, tools, input, and is valid for a strict server that stores nothing", () => {
    const messages = [
      user("hi"),
      assistant([
        thought("hm", { ...ENCRYPTED, status: "completed" }),
        text("Let me see", { id: "msg_1", phase: "commentary" }),
        call("call_1", { path: "a" }),
      ]),
      result("call_1"),
    ];
    const context = { systemPrompt: "Be brief.", messages, tools: [READ] };
    const options: StreamOptions = { maxTokens: 100, temperature: 0, thinkingLevel: "low", sessionId: "s".repeat(70) };
    const request = body(REASONING, context, options);
    valid(request);
    expect(Object.keys(request)).not.toContain("temperature");
    expect(request).toEqual({
      ...{ model: "m", stream: true, store: false, instructions: "Be brief.", max_output_tokens: 100 },
      ...{ include: ["reasoning.encrypted_content"], reasoning: { effort: "low", summary: "auto" } },
      prompt_cache_key: "s".repeat(64),
      tools: [{ ...READ, type: "function", strict: false }],
      input: [
        { role: "user", content: "hi" },
        { type: "reasoning", ...ENCRYPTED },
        {
          ...{ type: "message", id: "msg_1", role: "assistant", status: "completed", phase: "commentary" },
          content: [{ type: "output_text", text: "Let me see", annotations: [] }],
        },
        { type: "function_call", call_id: "call_1", name: "read", arguments: '{"path":"a"}' },
        { type: "function_call_output", call_id: "call_1", output: "out" },
      ],
    });
  });

  it("O3 R032 bytes up to the last common item are equal, whatever else of the request changes", () => {
    const history: Message[] = [
      user("one"),
      assistant([call("a"), call("b")]),
      result("a", [text("x"), image]),
      result("b"),
    ];
    const options: StreamOptions[] = [
      { maxTokens: 10 },
      { sessionId: "s" },
      { thinkingLevel: "high" },
      { maxTokens: 99, thinkingLevel: "off" },
    ];
    let before = "";
    for (const [turn, more] of options.entries()) {
      const request = raw(REASONING, { systemPrompt: "s", messages: [...history], tools: [READ] }, more);
      expect(request.startsWith(before)).toBe(true);
      before = request.slice(0, request.lastIndexOf('],"max_output_tokens"'));
      history.push(assistant([thought("t", ENCRYPTED), text(`answer ${turn}`)]), user(`next ${turn}`));
    }
  });

  it("O1 a message is encoded once: later requests send the same bytes", () => {
    const message = user([text("hello")]);
    const first = raw(MODEL, { messages: [message] });
    Object.defineProperty(message, "content", {
      get: () => {
        throw new Error("looked at again");
      },
    });
    expect(raw(MODEL, { messages: [message] })).toBe(first);
    expect(raw({ ...MODEL }, { messages: [message] })).toBe(first);
  });

  it("O1 what was encoded before does not show: a request has the bytes of one made anew, whatever was sent before", () => {
    const pool: Message[] = [
      user("one"),
      assistant([thought("t", ENCRYPTED), call("a"), call("b")]),
      result("a", [text("x"), image]),
      result("b", [image]),
      result("b"),
      assistant([text("said", { id: "msg_7" })]),
      assistant([]),
      user([text("two"), image]),
    ];
    const lists = fc.array(fc.array(fc.nat(pool.length - 1), { maxLength: 8 }), { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(lists, fc.constantFrom(MODEL, LOCAL), (requests, model) => {
        for (const picked of requests) {
          const messages = [pool[0], ...picked.map((at) => pool[at])].filter((message) => message !== undefined);
          expect(raw(model, { messages })).toBe(raw(model, { messages: structuredClone(messages) }));
        }
      }),
    );
  });

  it.each([MODEL, REASONING, LOCAL])("is valid for a strict server for any transcript: %#", (model) => {
    const origin = { api: model.api, provider: model.provider, model: model.id };
    const signatures = fc.array(
      fc.constantFrom(
        ...["signature", "msg_old{}", '{"v":1,"id":"msg_{}","phase":"commentary"}', '{"v":1,"id":"x y"}', "{"],
        ...['{"type":"reasoning","id":"rs_{}","summary":[],"encrypted_content":"e"}', '{"type":"reasoning"}'],
        '{"type":"reasoning","id":"rs_{}","summary":[],"content":[]}',
      ),
      { minLength: 1 },
    );
    fc.assert(
      fc.property(anyTranscript(origin), signatures, (messages, picks) => {
        let made = 0;
        const next = () => String(picks[made % picks.length]).replace("{}", String(made++));
        for (const message of messages) {
          if (message.role !== "assistant") continue;
          for (const block of message.content) {
            if (block.type === "thinking" && block.thinkingSignature) block.thinkingSignature = next();
            if (block.type === "text") block.textSignature = next();
          }
        }
        const json = raw(model, { messages }, {}, { styles: new Set(["mapped-tool-ids"]) });
        expect(json.isWellFormed()).toBe(true);
        valid(JSON.parse(json), { plainReasoning: model === LOCAL });
      }),
      // Its endless streams cannot be made smaller.
      { numRuns: 300, endOnFailure: true },
    );
  });
});

describe("items", () => {
  it("B8 folds system messages into the instructions, or leaves them in place where the model takes them", () => {
    const change: Message = { role: "system", content: "", sections: { role: "Be loud." }, timestamp: 1 };
    const context = { systemPrompt: "Be brief.", messages: [user("x"), assistant([text("y")]), change, user("z")] };
    const folded = body(MODEL, context);
    expect(folded.instructions).toBe("Be brief.\n\nBe loud.");
    expect(folded.input.map(({ role }) => role)).toEqual(["user", "assistant", "user"]);
    const compat = { supportsMidConvoSystemMessages: true };
    const inPlace = body({ ...MODEL, compat }, context);
    valid(inPlace, { midSystem: true });
    expect(inPlace.instructions).toBe("Be brief.");
    expect(inPlace.input[2]).toEqual({ role: "developer", content: expect.stringContaining("Be loud.") });
    const plain = body({ ...MODEL, compat: { ...compat, supportsDeveloperRole: false } }, context);
    expect(plain.input[2]).toMatchObject({ role: "system" });
  });

  it("sends images of a result in it to OpenAI, and behind the whole batch to others", () => {
    const messages = [
      user([text("look"), image]),
      assistant([call("a"), call("b")]),
      ...[result("a", [text("shot"), image]), result("b", [image]), user("and?")],
    ];
    const openai = inputOf(messages);
    expect(openai[0]).toEqual({ role: "user", content: [{ type: "input_text", text: "look" }, part] });
    expect(openai.slice(3)).toEqual([
      { type: "function_call_output", call_id: "a", output: [{ type: "input_text", text: "shot" }, part] },
      { type: "function_call_output", call_id: "b", output: [part] },
      { role: "user", content: "and?" },
    ]);
    expect(inputOf(messages, LOCAL).slice(3)).toEqual([
      { type: "function_call_output", call_id: "a", output: "shot" },
      { type: "function_call_output", call_id: "b", output: "(the image follows)" },
      { role: "user", content: [{ type: "input_text", text: expect.any(String) }, part, part] },
      { role: "user", content: "and?" },
    ]);
  });

  it("R029 reasoning goes back encrypted, to the model that gave it only", () => {
    const messages = [user("x"), assistant([thought("hm", ENCRYPTED), text("yes", { id: "msg_1" })]), user("y")];
    expect(inputOf(messages).slice(1, 3)).toMatchObject([{ type: "reasoning", ...ENCRYPTED }, { id: "msg_1" }]);
    const bare = { role: "assistant", content: "yes" };
    for (const other of [{ id: "n" }, { provider: "proxy" }, { api: "openai-completions" }]) {
      expect(inputOf(messages, { ...MODEL, ...other })[1]).toEqual(bare);
    }
    // A server that refuses it gets neither it nor the id that belongs to it.
    expect(inputOf(messages, MODEL, { styles: new Set(["no-reasoning-items"]) })[1]).toEqual(bare);
  });

  it("R028 reasoning as plain text goes back to local servers and not to OpenAI", () => {
    const plain = [
      thought("why", { id: "rs_1", summary: [], content: [] }),
      thought("short", { id: "rs_2", summary: [] }),
    ];
    const messages = [user("x"), assistant([...plain, call("a")]), result("a")];
    expect(inputOf(messages).map(({ type }) => type)).toEqual([undefined, "function_call", "function_call_output"]);
    expect(inputOf(messages, LOCAL).slice(1, 3)).toEqual([
      { type: "reasoning", id: "rs_1", summary: [], content: [{ type: "reasoning_text", text: "why" }] },
      { type: "reasoning", id: "rs_2", summary: [{ type: "summary_text", text: "short" }] },
    ]);
  });

  it("reasoning that nothing follows is left out; where it is all there is it becomes text", () => {
    const reasoning = thought("hm", ENCRYPTED);
    expect(inputOf([user("x"), assistant([text("a"), reasoning]), user("y")])).toHaveLength(3);
    expect(inputOf([user("x"), assistant([reasoning], { stopReason: "length" }), user("y")])[1]).toEqual({
      ...{ role: "assistant", content: "hm" },
    });
    const silent = thought("", { ...ENCRYPTED, summary: [] });
    expect(inputOf([user("x"), assistant([silent]), user("y")])).toHaveLength(2);
    expect(inputOf([user("x"), assistant([silent, text("a")]), user("y")])[1]).toMatchObject({
      encrypted_content: "enc",
    });
  });

  it("keeps the phase of a message, also without an id", () => {
    const [, said] = inputOf([user("x"), assistant([text("a", { id: "", phase: "final_answer" })]), user("y")]);
    expect(said).toEqual({ role: "assistant", content: "a", phase: "final_answer" });
    const [, old] = inputOf([user("x"), assistant([{ ...text("a"), textSignature: "msg_old" }]), user("y")]);
    expect(old).toMatchObject({ type: "message", id: "msg_old" });
  });

  it("R027 maps ids to what the API takes, the same for call and result", () => {
    const ids = ["call_2", "call_abc|fc_123", `call_${"x".repeat(80)}`, `call_${"x".repeat(80)}y`, "a b", "toolu_01"];
    const foreign = assistant(
      ids.map((id) => call(id)),
      { provider: "other" },
    );
    const messages = [user("x"), foreign, ...ids.map((id) => result(id))];
    const input = inputOf(messages);
    valid(body(MODEL, { messages }));
    const [asked, answered] = [input.slice(1, 7), input.slice(7)].map((items) => items.map((item) => item.call_id));
    expect(asked).toEqual(answered);
    expect(new Set(asked).size).toBe(ids.length);
    for (const id of asked ?? []) expect(id).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
    expect([asked?.[0], asked?.[5]]).toEqual(["call_2", "toolu_01"]);
  });

  it("R039 echoes a call with invalid arguments as valid JSON", () => {
    const broken = { ...call("a"), invalidArguments: { raw: '{"x":"\u0000', error: "bad" } };
    expect(inputOf([user("x"), assistant([broken]), result("a")])[1]).toMatchObject({ arguments: "{}" });
    const lone = inputOf([user("x"), assistant([call("a", { "k\ud800": "v\udc00" })]), result("a")]);
    expect(lone[1]).toMatchObject({ arguments: '{"k\ufffd":"v\ufffd"}' });
  });

  it("gives a result and a prompt some content always", () => {
    expect(inputOf([user("x"), assistant([call("a")]), result("a", [])]).at(-1)?.output).toBe("(no output)");
    expect(inputOf([user([])])[0]?.content).toBe("(empty message)");
  });
});

describe("fields", () => {
  const limit = (model: Model, context: Context, maxTokens?: number) =>
    body(model, context, maxTokens === undefined ? {} : { maxTokens }).max_output_tokens;

  it("R043 never asks for more than the window leaves, nor for less than the API takes", () => {
    const context = { messages: [user("hi")] };
    expect(limit(MODEL, context)).toBe(64_000);
    expect(limit({ ...MODEL, maxTokens: 8000 }, context)).toBe(8000);
    expect(limit(MODEL, context, 500)).toBe(500);
    expect(limit(MODEL, context, 1)).toBe(16);
    expect(limit({ ...MODEL, maxTokens: 0 }, context)).toBeUndefined();
    const small = { ...MODEL, contextWindow: 16_000, maxTokens: 16_000 };
    const prompt = user("word ".repeat(9600));
    expect(limit(small, { messages: [prompt] })).toBeLessThanOrEqual(4000);
    // An image does not count by its bytes.
    const seen = user([text("x"), { ...image, data: "A".repeat(400_000) }]);
    expect(limit(small, { messages: [seen] })).toBeGreaterThan(15_000);
    expect(body(MODEL, context, {}, { without: new Set(["max_output_tokens"]) })).not.toHaveProperty(
      "max_output_tokens",
    );
    expect(limit({ ...MODEL, compat: { supportsMaxOutputTokens: false } }, context)).toBeUndefined();
  });

  it.each<[ThinkingLevel | undefined, Partial<Model>, object | undefined]>([
    [undefined, {}, undefined],
    ["high", {}, { effort: "high", summary: "auto" }],
    ["max", {}, { effort: "high", summary: "auto" }],
    ["xhigh", { thinkingLevelMap: { xhigh: "xhigh" } }, { effort: "xhigh", summary: "auto" }],
    ["high", { thinkingLevelMap: { high: null } }, { effort: "medium", summary: "auto" }],
    ["minimal", { thinkingLevelMap: { minimal: null } }, { effort: "low", summary: "auto" }],
    ["off", {}, undefined],
    ["off", { thinkingLevelMap: { off: "none" } }, { effort: "none" }],
    // R028: it cannot be switched off.
    ["off", { thinkingLevelMap: { off: null } }, undefined],
    ["high", { reasoning: false }, undefined],
  ])("level %s with %j asks for %j", (thinkingLevel, more, reasoning) => {
    const options = thinkingLevel ? { thinkingLevel } : {};
    const request = body({ ...REASONING, ...more }, { messages: [user("x")] }, options);
    expect(request.reasoning).toEqual(reasoning);
    expect(request.include).toEqual(more.reasoning === false ? undefined : ["reasoning.encrypted_content"]);
  });

  it("what a server refused is left out", () => {
    const options: StreamOptions = { thinkingLevel: "low", sessionId: "s", temperature: 1 };
    const of = (model: Model, ...without: string[]) =>
      body(model, { messages: [user("x")] }, options, { without: new Set(without) });
    expect(of(REASONING, "reasoning.summary").reasoning).toEqual({ effort: "low" });
    expect(of(REASONING, "reasoning")).not.toHaveProperty("reasoning");
    expect(of(REASONING, "include")).not.toHaveProperty("include");
    expect(of(REASONING, "prompt_cache_key")).not.toHaveProperty("prompt_cache_key");
    expect(of({ ...MODEL, compat: { promptCacheKeyMode: "disabled" } })).not.toHaveProperty("prompt_cache_key");
    expect(of(MODEL).temperature).toBe(1);
    expect(of(MODEL, "temperature")).not.toHaveProperty("temperature");
    expect(of({ ...LOCAL, compat: { supportsTemperature: true } }).temperature).toBe(1);
  });

  it("R041 R165 tools are lowered and renamed for the wire, with a warning for one that cannot be said", () => {
    const tools = [
      {
        name: "a.b c",
        description: "x",
        parameters: { $schema: "s", type: "object", properties: { k: { const: 1 } } },
      },
      { name: "bad", description: "x", parameters: "nonsense" as unknown as Record<string, unknown> },
    ];
    const input = { model: MODEL, context: { messages: [user("x")], tools }, options: {}, adjustments: NO_ADJUSTMENTS };
    const encoded = encodeRequest(input);
    const sent = JSON.parse(Buffer.concat(encoded.body).toString());
    valid(sent, { forbiddenSchemaKeywords: ["$schema", "const"] });
    expect(sent.tools).toHaveLength(1);
    expect(encoded.tools).toBe(tools);
    expect(encoded.warnings).toEqual([expect.stringContaining('"bad"')]);
  });
});
