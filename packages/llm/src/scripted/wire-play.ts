import type { ServerResponse } from "node:http";
import { setImmediate as turn } from "node:timers/promises";
import type { Frame, WireFault, WireReply } from "./wire-reply.ts";

export interface WirePlayOptions {
  reply: WireReply;
  frames: Iterable<Frame>;
  errorFrame(error: object): string;
  writeSize?: number;
}

const EVENT_STREAM = { "content-type": "text/event-stream", "cache-control": "no-cache" };

// Frames without a delay between them go out in writes of about this size, as a busy server's do.
const BATCH_CHARS = 16_384;

/** Sends one reply, with its fault if it has one. Comes back when the answer has ended or hangs for good. */
export async function sendReply(response: ServerResponse, options: WirePlayOptions): Promise<void> {
  const { reply } = options;
  await reply.gate;
  const fault = reply.wire;
  if (fault?.mode === "no_response") return;
  if (fault?.mode === "status") {
    sendStatus(response, fault);
    return;
  }
  response.writeHead(200, { ...EVENT_STREAM, ...(fault?.mode === "raw" ? fault.headers : {}) });
  response.flushHeaders();
  if (fault?.mode === "headers_only") return;
  if (fault?.mode === "raw") await write(response, fault.body, options.writeSize);
  else await sendFrames(response, options);
  if (fault?.mode === "stall") return;
  if (fault?.mode === "reset") response.socket?.resetAndDestroy();
  else response.end();
}

function sendStatus(response: ServerResponse, fault: Extract<WireFault, { mode: "status" }>): void {
  const { status, body = "", headers = {} } = fault;
  const type = typeof body === "string" ? "text/plain" : "application/json";
  response.writeHead(status, { "content-type": type, ...headers });
  response.end(typeof body === "string" ? body : JSON.stringify(body));
}

async function sendFrames(response: ServerResponse, options: WirePlayOptions): Promise<void> {
  const { reply, writeSize } = options;
  let waiting = "";
  for (const frame of withFault(options)) {
    if (response.destroyed) return;
    if (reply.delayMs) await new Promise((resolve) => setTimeout(resolve, reply.delayMs));
    waiting += frame;
    if (!reply.delayMs && waiting.length < BATCH_CHARS) continue;
    await write(response, waiting, writeSize);
    waiting = "";
  }
  await write(response, waiting, writeSize);
}

/** The text of the frames, up to where the fault is. */
function* withFault({ reply, frames, errorFrame }: WirePlayOptions): Generator<string> {
  const fault = reply.wire;
  const limit = fault && "afterDeltas" in fault ? (fault.afterDeltas ?? 0) : undefined;
  const cut = fault !== undefined && fault.mode !== "status" && fault.mode !== "raw";
  let deltas = 0;
  for (const frame of frames) {
    if (cut && (frame.kind === "end" || (frame.kind === "delta" && deltas >= (limit ?? 0)))) {
      if (fault.mode === "half_frame") yield frame.text.slice(0, Math.ceil(frame.text.length / 2));
      if (fault.mode === "error") yield errorFrame(fault.error);
      return;
    }
    if (frame.kind === "delta") deltas++;
    yield frame.text;
  }
}

async function write(response: ServerResponse, text: string, size: number | undefined): Promise<void> {
  if (text === "" || response.destroyed) return;
  const bytes = Buffer.from(text);
  const step = size ?? bytes.length;
  for (let start = 0; start < bytes.length && !response.destroyed; start += step) {
    await written(response, bytes.subarray(start, start + step));
    if (size) await turn();
  }
}

/** The bytes are with the kernel, or the client is gone. */

function written(response: ServerResponse, bytes: Buffer): Promise<void> {
  return new Promise((resolve) => {
    response.once("close", resolve);
    response.write(bytes, () => {
      response.off("close", resolve);
      resolve();
    });
  });
}
