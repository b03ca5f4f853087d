import { isRecord, parseJson } from "../../stream/json.ts";
import { parseFrame, type SseFrame } from "../../stream/sse.ts";

/** What a frame is, in every API: an event of its own, an error, the marker behind the last one, or a keep-alive. */
export type FrameReading =
  | { type: "event"; value: Record<string, unknown>; name: string | undefined }
  | { type: "error"; value: unknown }
  | { type: "marker" }
  | { type: "nothing" };

const NOTHING: FrameReading = { type: "nothing" };
const MARKER: FrameReading = { type: "marker" };

/** Reads a frame. Throws a `StreamError` for a damaged one. */
export function readFrame({ event, data }: SseFrame): FrameReading {
  // The usual case first: there are tens of thousands of them.
  if (event !== "error" && data.startsWith("{")) return ofValue(parsed(data), event);
  const text = data.trim();
  if (text === "") return NOTHING;
  if (text === "[DONE]") return MARKER;
  if (event === "error") return { type: "error", value: parseJson(text) ?? text };
  return ofValue(parsed(text), event);
}

function ofValue(value: unknown, name: string | undefined): FrameReading {
  if (isRecord(value)) return { type: "event", value, name };
  // null and numbers are keep-alives of some servers.
  return typeof value === "string" || Array.isArray(value) ? { type: "error", value } : NOTHING;
}

/** A gateway that fails may write its error into the frame that it was about to send. */
function parsed(data: string): unknown {
  const value = parseJson(data);
  if (value !== undefined) return value;
  const at = data.lastIndexOf('{"error"');
  const error = at > 0 ? parseJson(data.slice(at)) : undefined;
  return error === undefined ? parseFrame(data) : [error];
}
