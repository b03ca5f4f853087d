import { StringDecoder } from "node:string_decoder";
import { createParser } from "eventsource-parser";
import { StrayText } from "./stray-text.ts";
import { StreamError } from "./stream-error.ts";

/** One frame of a server-sent event stream; a frame without data does not exist. */
export interface SseFrame {
  event?: string;
  data: string;
  /** Not a frame, but what the server wrote at the end beside its frames, and is not a JSON value. */
  stray?: true;
}

const SHOWN_CHARS = 120;
// Far above any real frame: a server that never ends its line must not fill the memory.
const MAX_FRAME_CHARS = 64 * 1024 * 1024;

/**
 * Frames of a body of server-sent events (WHATWG HTML, 9.2), those of one chunk at a time. Bytes may be cut anywhere,
 * also inside a character or a line end. A last frame without its empty line is given as well: some servers forget it.
 * A JSON value that stands bare among the lines is given as a frame: so gateways break off a stream (R205).
 */
export async function* readSse(body: AsyncIterable<Uint8Array>): AsyncGenerator<SseFrame[], void, undefined> {
  // Several times faster than TextDecoder, which would take the byte order mark away as well.
  const decoder = new StringDecoder("utf8");
  const frames = new FrameReader();
  let begun = false;
  try {
    for await (const chunk of body) {
      const text = decoder.write(chunk);
      if (text === "") continue;
      frames.feed(begun ? text : text.replace(/^\ufeff/, ""));
      begun = true;
      if (frames.any) yield frames.take();
    }
  } catch (error) {
    // The connection broke: a bare text counts, a frame that is not ended does not.
    frames.feed("\n");
    if (frames.any) yield frames.take();
    throw error;
  }
  // Twice a line end: one ends an unfinished line, one the frame; after a CR at the very end the first is part of it.
  frames.feed(`${decoder.end()}\n\n\n`);
  frames.end();
  if (frames.any) yield frames.take();
}

class FrameReader {
  #frames: SseFrame[] = [];
  readonly #stray = new StrayText();
  readonly #parser = createParser({
    onEvent: ({ event, data }) => this.#frames.push(event === undefined ? { data } : { event, data }),
    maxBufferSize: MAX_FRAME_CHARS,
    onError: ({ type, field, value, line }) => {
      if (type === "max-buffer-size-exceeded")
        throw new StreamError("bad_frame", "The server sent a frame without end");
      // Older llama.cpp servers write an error as a field of that name.
      if (field === "error" && value) this.#frames.push({ event: "error", data: value });
      else this.#bare(line ?? "");
    },
  });

  get any(): boolean {
    return this.#frames.length > 0;
  }

  feed(text: string): void {
    this.#parser.feed(text);
  }

  take(): SseFrame[] {
    const taken = this.#frames;
    this.#frames = [];
    return taken;
  }

  end(): void {
    const data = this.#stray.rest();
    if (data !== "") this.#frames.push({ data, stray: true });
  }

  #bare(line: string): void {
    const data = this.#stray.line(line);
    if (data !== undefined) this.#frames.push({ data });
  }
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
