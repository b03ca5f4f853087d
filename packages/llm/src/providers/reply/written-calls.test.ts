import { describe, expect, it } from "vitest";
import { APIS, readReply, said, type Wire, wireOf } from "../__fixtures__/read-reply.ts";

const LS = { bash: { command: "ls" } };
const A = { read: { path: "a" } };
const JSON_LS = '{"name": "bash", "arguments": {"command": "ls"}}';
const JSON_A = '{"name": "read", "parameters": {"path": "a"}}';

/** Texts in the forms that models are trained on, what is left of the text, and the calls. */
const FORMS: [string, string, unknown[]][] = [
  ["Hermes", `<tool_call>${JSON_LS}</tool_call>`, [LS]],
  ["Hermes on lines", `<tool_call>\n${JSON_LS}\n</tool_call>\n<tool_call>\n${JSON_A}\n</tool_call>\n`, [LS, A]],
  ["Hermes without its last tag", `<tool_call>\n${JSON_LS}`, [LS]],
  ["arguments as a text", `<tool_call>{"name":"bash","arguments":"{\\"command\\":\\"ls\\"}"}</tool_call>`, [LS]],
  ["a function in an object", `<tool_call>{"function":{"name":"bash","arguments":{"command":"ls"}}}</tool_call>`, [LS]],
  [
    "Qwen Coder",
    "<tool_call>\n<function=bash>\n<parameter=command>\nls\n</parameter>\n</function>\n</tool_call>",
    [LS],
  ],
  ["Qwen Coder without its wrapper", "<function=read><parameter=path>a</parameter></function>", [A]],
  ["Llama", `<function=bash>{"command": "ls"}</function>`, [LS]],
  ["Llama's tag", `<|python_tag|>${JSON_A}<|eom_id|>`, [A]],
  ["GLM", "<tool_call>bash\n<arg_key>command</arg_key>\n<arg_value>ls</arg_value>\n</tool_call>", [LS]],
  ["Mistral", `[TOOL_CALLS] [${JSON_LS}, ${JSON_A}]`, [LS, A]],
  ["Mistral's newer form", `[TOOL_CALLS]bash[ARGS]{"command": "ls"}`, [LS]],
  ["Mistral's newest form", `[TOOL_CALLS]bash{"command": "ls"}`, [LS]],
  ["Granite", `<|tool_call|>[${JSON_LS}]`, [LS]],
  [
    "Kimi",
    '<|tool_calls_section_begin|><|tool_call_begin|>functions.bash:0<|tool_call_argument_begin|>{"command":"ls"}<|tool_call_end|><|tool_calls_section_end|>',
    [LS],
  ],
  [
    "DeepSeek",
    '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>bash\n```json\n{"command":"ls"}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>',
    [LS],
  ],
  [
    "DeepSeek's newer form",
    '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>bash<｜tool▁sep｜>{"command":"ls"}<｜tool▁call▁end｜><｜tool▁calls▁end｜>',
    [LS],
  ],
  ["gpt-oss", '<|channel|>commentary to=functions.bash <|constrain|>json<|message|>{"command":"ls"}<|call|>', [LS]],
  [
    "gpt-oss with thoughts",
    '<|channel|>analysis<|message|>I must look, it seems.<|end|><|start|>assistant to=functions.bash<|channel|>commentary json<|message|>{"command":"ls"}',
    [LS],
  ],
  [
    "tags with names",
    '<function_calls>\n<invoke name="bash">\n<parameter name="command">ls</parameter>\n</invoke>\n</function_calls>',
    [LS],
  ],
  [
    "Minimax",
    '<minimax:tool_call>\n<invoke name="bash">\n<parameter name="command">ls</parameter>\n</invoke>\n</minimax:tool_call>',
    [LS],
  ],
  ...["function_calls", "tool_calls"].map((outer): [string, string, unknown[]] => [
    `DeepSeek's tags in ${outer}`,
    `<｜DSML｜${outer}>\n<｜DSML｜invoke name="bash">\n<｜DSML｜parameter name="command" string="true">ls</｜DSML｜parameter>\n</｜DSML｜invoke>\n</｜DSML｜${outer}>`,
    [LS],
  ]),
  [
    "DeepSeek's tags without their wrapper",
    '<｜DSML｜invoke name="read"><｜DSML｜parameter name="path" string="true">a</｜DSML｜parameter></｜DSML｜invoke>',
    [A],
  ],
  ["a tool that there is not", '<tool_call>{"name":"frob","arguments":{}}</tool_call>', [{ frob: {} }]],
];

const pieces = (text: string, size: number) => text.match(new RegExp(`[^]{1,${size}}`, "g")) ?? [];
const reply = (wire: Wire, texts: readonly string[], reason: "stop" | "calls" | "length" = "stop") =>
  wire.sse(...wire.begin(), ...wire.text(...texts), ...wire.end(reason));

describe.each(APIS)("calls written as text to %s", (api) => {
  it.each(FORMS)("R208 %s is taken for the call that it is", async (_title, text, calls) => {
    for (const size of [1, 7, 10_000]) {
      for (const before of ["", "Let me look.\n\n"]) {
        const { message, events } = await readReply(api, reply(wireOf(api), pieces(before + text, size)));
        expect(said(message).filter((part) => part !== "")).toEqual([...(before ? [before] : []), ...calls]);
        expect(message.stopReason).toBe("toolUse");
        const shown = events.flatMap((event) => (event.type === "text_delta" ? [event.delta] : [])).join("");
        expect(shown).toBe(before);
      }
    }
  });

  it.each([
    ["speech about a tag", "Use <tool_call> to call a tool."],
    ["speech about whole tags", `So: <tool_call>${JSON_LS}</tool_call> is how it looks.`],
    ["an example in a fence", `Like this:\n\`\`\`\n<tool_call>${JSON_LS}</tool_call>\n\`\`\`\n`],
    ["an example that ends the text in a fence", `\`\`\`xml\n<tool_call>${JSON_LS}</tool_call>`],
    ["an example in quotes", `Write \`<tool_call>${JSON_LS}</tool_call>`],
    ["other tags", "a <b> c < d [1] [TOOL] <tool_cal"],
    ["speech in a channel", "<|channel|>final<|message|>Hello<|return|>"],
  ])("R208 %s stays text", async (_title, text) => {
    for (const size of [1, 10_000]) {
      const { message } = await readReply(api, reply(wireOf(api), pieces(text, size)));
      expect(said(message)).toEqual([text]);
      expect(message.stopReason).toBe("stop");
    }
  });

  it("R208 without tools, or at the limit, nothing is taken for a call", async () => {
    const text = `<tool_call>${JSON_LS}</tool_call>`;
    expect(said((await readReply(api, reply(wireOf(api), [text]), { tools: [] })).message)).toEqual([text]);
    const half = text.slice(0, -20);
    const { message } = await readReply(api, reply(wireOf(api), [half], "length"));
    expect([said(message), message.stopReason]).toEqual([[half], "length"]);
  });

  it("R208 a call that came as one is not taken twice", async () => {
    const wire = wireOf(api);
    const text = wire.text(`<tool_call>${JSON_LS}</tool_call>`);
    const call = wire.call("c1", "bash", ['{"command":"ls"}']);
    const { message } = await readReply(api, wire.sse(...wire.begin(), ...text, ...call, ...wire.end("calls")));
    expect(said(message).filter((part) => part !== "")).toEqual([LS]);
  });

  it("R208 what is held back is there when the stream breaks", async () => {
    const wire = wireOf(api);
    const text = `Hi <tool_call>${JSON_LS.slice(0, 20)}`;
    const body = wire.sse(...[...wire.begin(), ...wire.text(text)].slice(0, -1)).replace("data: [DONE]\n\n", "");
    const { message } = await readReply(
      api,
      body + (api === "openai-completions" ? wire.sse(...wire.text(text)) : ""),
      {
        broken: true,
      },
    );
    expect(JSON.stringify(said(message))).toContain("Hi <tool_call>{");
  });

  it.each([
    ["a form that cannot be read", "<tool_call>{bash: ls}</tool_call>"],
    ["half a form", '<tool_call>{"name":"bash","argu'],
    ["a form without arguments", "<|channel|>commentary to=functions.bash<|message|>"],
  ])("R208 %s is a malformed call, and never a silent end", async (_title, text) => {
    const { message } = await readReply(api, reply(wireOf(api), [`Look:\n${text}`]));
    expect(message).toMatchObject({ stopReason: "error", errorDetails: { code: "malformed_tool_call" } });
    expect(said(message)).toEqual([`Look:\n${text}`]);
  });
});

describe("a stop reason of calls without a call", () => {
  it.each(["openai-completions", "anthropic-messages"] as const)("R208 of %s is a malformed call", async (api) => {
    for (const texts of [[], ["Let me look."]]) {
      const wire = wireOf(api);
      const blocks = texts.length > 0 ? wire.text(...texts) : [];
      const { message } = await readReply(api, wire.sse(...wire.begin(), ...blocks, ...wire.end("calls")));
      expect(message).toMatchObject({ stopReason: "error", errorDetails: { code: "malformed_tool_call" } });
      expect(said(message)).toEqual(texts);
    }
  });

  it("R208 the provider's own word for it has the code as well", async () => {
    const wire = wireOf("openai-completions");
    const body = reply(wire, ["x"]).replace('"stop"', '"malformed_function_call"');
    expect((await readReply("openai-completions", body)).message.errorDetails?.code).toBe("malformed_tool_call");
  });
});

describe.each(APIS)("names of calls to %s", (api) => {
  it.each([
    ["bash<|channel|>commentary", "bash"],
    ["bash<|channel|>", "bash"],
    ["functions.bash", "bash"],
    ["functions.bash:0", "bash"],
    ["default_api.bash", "bash"],
    ["default_api:bash", "bash"],
    ["functions.bash<|channel|>json", "bash"],
    ["bash <|constrain|>json", "bash"],
    ["bash", "bash"],
    ["frob<|channel|>commentary", "frob"],
    ["functions.frob", "functions.frob"],
    ["constructor", "constructor"],
    ["__proto__", "__proto__"],
  ])("R208 R306 %s means %s", async (wireName, name) => {
    const wire = wireOf(api);
    const body = wire.sse(...wire.begin(), ...wire.call("c1", wireName, ['{"a":1}']), ...wire.end("calls"));
    expect((await readReply(api, body)).message.content).toMatchObject([{ name, id: "c1", arguments: { a: 1 } }]);
  });
});
