// One question about this folder; events are pushed to a listener.
//
//   node examples/01-one-question.mjs                    a scripted model: no key, no network
//   node examples/01-one-question.mjs anthropic/<id>     a real one; its key is in the environment, as for the command tau
import { fileURLToPath } from "node:url";
import { createAgentSession } from "@tau/host";
import { createScript, reply, scriptedModel, toolCall } from "@tau/llm/testing";

const script = createScript([
  reply("I look into package.json.", toolCall("read", { path: "package.json" })),
  reply("It wants Node 20.19 or newer."),
]);

const name = process.argv[2];
const session = await createAgentSession({
  cwd: fileURLToPath(new URL("..", import.meta.url)),
  env: process.env,
  tools: ["read", "ls"],
  ...(name ? { model: name } : { model: scriptedModel(), streamFn: script.streamFn }),
});

session.subscribe((event) => {
  if (event.type === "message_update" && event.assistantMessageEvent.type === "text_delta")
    process.stdout.write(event.assistantMessageEvent.delta);
  if (event.type === "message_end" && event.message.role === "assistant") process.stdout.write("\n");
  if (event.type === "tool_execution_start") console.log(`[${event.toolName} ${JSON.stringify(event.args)}]`);
  if (event.type === "tool_execution_end") console.log(`[${event.isError ? "failed" : "ok"}]`);
});

try {
  const outcome = await session.prompt("Which version of Node does this project want?");
  console.log(`outcome: ${outcome.status}${outcome.errorMessage ? `: ${outcome.errorMessage}` : ""}`);
  if (outcome.status !== "done") process.exitCode = 1;
} finally {
  await session.dispose();
}
