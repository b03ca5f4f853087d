// A program of somebody else on the SDK: prints what each of its model's calls gave. Its settings come in an argument.
import { createAgentSession } from "@tau/host";

async function main({ cwd, env }) {
  const tools = ["read", "edit", "grep"];
  const session = await createAgentSession({ cwd, env, tools, model: "loopback/one" });
  const results = {};
  session.subscribe((event) => {
    if (event.type !== "tool_execution_end") return;
    const { content } = event.result;
    results[event.toolCallId] = {
      isError: event.isError,
      kinds: content.map(({ type }) => type),
      text: content[0].text,
    };
  });
  const { status, text, errorMessage } = await session.prompt("Go.");
  await session.dispose();
  console.log(JSON.stringify({ status, text, errorMessage, results }));
}

void main(JSON.parse(process.argv[2]));
