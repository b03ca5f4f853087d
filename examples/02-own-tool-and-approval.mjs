// A tool of one's own and a gate in front of it; events are pulled, and answers and steering go in with next().
//
//   node examples/02-own-tool-and-approval.mjs                    a scripted model: no key, no network
//   node examples/02-own-tool-and-approval.mjs anthropic/<id>     a real one; its key is in the environment
import { createAgentSession, textResult } from "@tau/host";
import { createScript, reply, scriptedModel, toolCall } from "@tau/llm/testing";

const deploy = {
  name: "deploy",
  label: "Deploy",
  description: "Brings the current version to a target and says which version it has then.",
  parameters: {
    type: "object",
    properties: { target: { type: "string", enum: ["staging", "production"] } },
    required: ["target"],
  },
  async execute(_toolCallId, { target }, _signal, onUpdate) {
    onUpdate(textResult(`copying to ${target}`, undefined));
    return textResult(`${target} has version 1.4`, { target, version: "1.4" });
  },
};

// Every call passes here before it runs. What `ask` gives is the answer that comes in below.
const permission = {
  async decide({ args }, { ask }) {
    const answer = await ask?.(`deploy to ${args.target}`);
    if (answer?.decision === "allow") return { action: "allow" };
    return { action: "deny", reason: answer?.reason ?? "There is nobody to ask.", unattended: !answer };
  },
};

const script = createScript([
  reply(toolCall("deploy", { target: "production" })),
  reply(toolCall("deploy", { target: "staging" })),
  reply("Staging has version 1.4; production was left alone."),
]);

const name = process.argv[2];
const session = await createAgentSession({
  cwd: process.cwd(),
  env: process.env,
  systemPrompt: "You are a release assistant. When a target is refused, you wait for other instructions.",
  tools: [deploy],
  permission,
  attended: true,
  ...(name ? { model: name } : { model: scriptedModel(), streamFn: script.streamFn }),
});

/** What the program says to an event: an answer, a hint for the model, or nothing. */
function respond(event) {
  if (event.type === "permission_request") {
    const allowed = event.args.target === "staging";
    console.log(`${event.reason}? ${allowed ? "yes" : "no"}`);
    if (allowed) return { type: "permission", id: event.id, decision: "allow" };
    return { type: "permission", id: event.id, decision: "deny", reason: "Production is frozen until Monday." };
  }
  if (event.type === "tool_denied") return { type: "steer", message: "Then take staging." };
  if (event.type === "tool_execution_end" && !event.isError) console.log(event.result.content[0].text);
  if (event.type === "message_end" && event.message.role === "assistant") {
    for (const block of event.message.content) if (block.type === "text") console.log(block.text);
  }
  return undefined;
}

const run = session.run("Bring the current version to production.");
let step = await run.next();
while (!step.done) step = await run.next(respond(step.value));
const outcome = step.value;
console.log(`outcome: ${outcome.status}${outcome.errorMessage ? `: ${outcome.errorMessage}` : ""}`);
if (outcome.status !== "done") process.exitCode = 1;
await session.dispose();
