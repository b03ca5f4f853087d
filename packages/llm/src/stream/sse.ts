import { StringDecoder } from "node:string_decoder";
import { createParser } from "eventsource-parser";
import { StreamError } from "./stream-error.ts";

/** One frame of a server-sent event stream; a frame without data does not exist. */
export interface SseFrame {
  event?: string;
  data: string;
}

const SHOWN_CHARS = 120;
// Far above any real frame: a server that never ends its line must not fill the memory.
const MAX_FRAME_CHARS = 64 * 1024 * 1024;

/**
 * Frames of a body of server-sent events (WHATWG HTML, 9.2), those of one chunk at a time. Bytes may be cut anywhere,
 * also inside a character or a line end. A last frame without its blank line is given as well: some servers forget it.
 */
export async function* readSse(body: AsyncIterable<Uint8Array>): AsyncGenerator<SseFrame[], void, undefined> {
  // Several times faster than TextDecoder, which would take the byte order mark away as well.
  const decoder = new StringDecoder("utf8");
  let frames: SseFrame[] = [];
  const parser = createParser({
    onEvent: ({ event, data }) => frames.push(event === undefined ? { data } : { event, data }),
    maxBufferSize: MAX_FRAME_CHARS,
    onError: ({ type, field, value }) => {
      if (type === "max-buffer-size-exceeded")
        throw new StreamError("bad_frame", "The server sent a frame without end");
      // Older llama.cpp servers write an error as a field of that name.
      if (field === "error" && value) frames.push({ event: "error", data: value });
    },
  });
  const take = () => {
    const taken = frames;
    frames = [];
    return taken;
  };
  let begun = false;
  for await (const chunk of body) {
    const text = decoder.write(chunk);
    if (text === "") continue;
    parser.feed(begun ? text : text.replace(/^\ufeff/, ""));
    begun = true;
    if (frames.length > 0) yield take();
  }
  // Twice a line end: one ends an unfinished line, one the frame; after a CR at the very end the first is part of it.
  parser.feed(`${decoder.end()}\n\n\n`);
  if (frames.length > 0) yield take();
}

/** The JSON value of a frame. A frame that is none was damaged on its way (R021): retryable, with its first characters. */
export function parseFrame(data: string): unknown {
  try {
    return JSON.parse(data);
  } catch {
    const shown = data.length > SHOWN_CHARS ? `${data.slice(0, SHOWN_CHARS)}…` : data;
    throw new StreamError("bad_frame", `The server sent a damaged frame: ${shown.replace(/\s+/g, " ").trim()}`);
  }
}
