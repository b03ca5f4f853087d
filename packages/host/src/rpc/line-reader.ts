/** A line so long is not a command: the rest of it is dropped. An image in a prompt is far shorter. */
const MAX_LINE_BYTES = 64 * 1024 * 1024;

const LF = 0x0a;

/** One line of input, without its end; undefined for one that was too long. */
export type Line = string | undefined;

/**
 * Splits bytes into lines at LF alone (report R174); a CR before it is dropped. Characters may be cut anywhere
 * between two chunks. What stands behind the last LF is a line, too: some programs end without one.
 */
export async function* readLines(
  input: AsyncIterable<Uint8Array | string>,
  maxBytes = MAX_LINE_BYTES,
): AsyncGenerator<Line> {
  let parts: Buffer[] = [];
  let size = 0;
  let first = true;
  const take = (): Line => {
    const line = size > maxBytes ? undefined : decode(Buffer.concat(parts), first);
    first = false;
    parts = [];
    size = 0;
    return line;
  };
  const add = (part: Buffer) => {
    size += part.length;
    if (size > maxBytes) parts = [];
    else parts.push(part);
  };
  for await (const given of input) {
    const chunk =
      typeof given === "string" ? Buffer.from(given) : Buffer.from(given.buffer, given.byteOffset, given.length);
    let start = 0;
    for (let end = chunk.indexOf(LF); end >= 0; end = chunk.indexOf(LF, start)) {
      add(chunk.subarray(start, end));
      yield take();
      start = end + 1;
    }
    if (start < chunk.length) add(chunk.subarray(start));
  }
  if (size > 0) yield take();
}

function decode(bytes: Buffer, first: boolean): string {
  const whole = bytes.toString("utf8");
  const text = first && whole.startsWith("\uFEFF") ? whole.slice(1) : whole;
  return text.endsWith("\r") ? text.slice(0, -1) : text;
}
