// A session that is kept in a file and taken up again, as after a restart of the program.
//
//   node examples/03-resume-a-session.mjs                    a scripted model: no key, no network
//   node examples/03-resume-a-session.mjs anthropic/<id>     a real one; its key is in the environment
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  createAgentSession,
  createCompactor,
  createSessionStore,
  latestSession,
  openSessionStore,
  SessionLockedError,
} from "@tau/host";
import { createScript, reply, scriptedModel } from "@tau/llm/testing";

const cwd = process.cwd();
const sessionsDir = mkdtempSync(join(tmpdir(), "tau-example-"));

const script = createScript([
  reply("I keep it in mind: the code word is heron."),
  ({ context }) => {
    const first = context.messages.find(({ role }) => role === "user");
    return reply(/heron/.test(JSON.stringify(first)) ? "The code word is heron." : "I know of no code word.");
  },
]);

const name = process.argv[2];
const open = (store) =>
  createAgentSession({
    cwd,
    env: process.env,
    store,
    tools: [],
    systemPrompt: "Answer in one sentence.",
    compactor: createCompactor(),
    ...(name ? { model: name } : { model: scriptedModel(), streamFn: script.streamFn }),
  });

async function ask(session, question) {
  const outcome = await session.prompt(question);
  if (outcome.status !== "done") throw new Error(outcome.errorMessage ?? outcome.status);
  const text = session.messages.at(-1).content.flatMap((block) => (block.type === "text" ? [block.text] : []));
  console.log(`> ${question}\n${text.join("\n")}`);
}

try {
  const before = await open(createSessionStore({ sessionsDir, cwd }));
  await ask(before, "The code word is heron. Keep it in mind.");
  const path = latestSession(sessionsDir, cwd);
  try {
    openSessionStore(path);
  } catch (error) {
    if (!(error instanceof SessionLockedError)) throw error;
    console.log("(a session has one writer: it cannot be opened twice)");
  }
  await before.dispose();

  const after = await open(openSessionStore(path));
  console.log(`(opened again with ${after.messages.length} messages)`);
  await ask(after, "What is the code word?");
  const { userMessages } = await after.dispatch({ type: "get_session_stats" });
  console.log(`(${userMessages} questions in the file)`);
  await after.dispose();
} finally {
  rmSync(sessionsDir, { recursive: true, force: true });
}
