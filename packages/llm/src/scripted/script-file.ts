import { readFile } from "node:fs/promises";
import { isRecord } from "../stream/json.ts";
import type { ScriptReply } from "./reply.ts";

/**
 * A script file is a JSON array of steps, or `{steps, by}`. A step is a reply, or an array of replies for attempts
 * after each other at the same place: failed, failed, answered; the last one stays. `by` says how the place is found:
 * `messages` (default) counts the assistant messages in the context, so that a resumed process continues where the
 * session is; `requests` counts the requests of this process, for runs that drop messages from the context.
 */
interface ScriptFile {
  steps: (ScriptReply | ScriptReply[])[];
  by: "messages" | "requests";
}

// Attempts at each place and requests of each file, for the life of the process: a script has no other memory.
const counts = new Map<string, number>();

/**
 * The reply for this place of the script.
 * @param step number of assistant messages in the context
 * @throws Error that says what to fix: file missing, no JSON, no script, or the script is over
 */
export async function nextReply(fileUrl: string, step: number): Promise<ScriptReply> {
  const { steps, by } = await readScript(fileUrl);
  const place = by === "requests" ? next(fileUrl) : step;
  const found = steps[place];
  if (found === undefined) {
    throw new Error(`Unexpected request ${place + 1}: the script ${fileUrl} has ${steps.length} steps.`);
  }
  if (!Array.isArray(found)) return found;
  const attempt = Math.min(next(`${fileUrl}#${place}`), found.length - 1);
  const reply = found[attempt];
  if (reply === undefined) throw new Error(`Step ${place + 1} of the script ${fileUrl} has no reply.`);
  return reply;
}

function next(key: string): number {
  const count = counts.get(key) ?? 0;
  counts.set(key, count + 1);
  return count;
}

/** Reads and checks a script file. */
async function readScript(fileUrl: string): Promise<ScriptFile> {
  const url = parseFileUrl(fileUrl);
  const text = await readFile(url, "utf8").catch((error: unknown) => {
    throw new Error(`Cannot read the script ${fileUrl}: ${error instanceof Error ? error.message : String(error)}`);
  });
  const value = parse(text, fileUrl);
  const steps = isRecord(value) ? value.steps : value;
  if (!Array.isArray(steps) || !steps.flat().every(isReply)) {
    throw new Error(`${fileUrl} is not a script: expected an array of replies like [{"content": ["hello"]}].`);
  }
  return { steps, by: isRecord(value) && value.by === "requests" ? "requests" : "messages" };
}

function parseFileUrl(fileUrl: string): URL {
  const url = URL.canParse(fileUrl) ? new URL(fileUrl) : undefined;
  if (url?.protocol === "file:") return url;
  throw new Error(
    `A scripted model needs the file URL of its script as baseUrl, e.g. file:///tmp/script.json; got ${fileUrl}`,
  );
}

function parse(text: string, fileUrl: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Error(`The script ${fileUrl} is not JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function isReply(value: unknown): value is ScriptReply {
  return isRecord(value) && Array.isArray(value.content);
}
