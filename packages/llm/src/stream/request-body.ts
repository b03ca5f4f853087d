/** The bytes of a request: these parts, one behind the other. Nobody changes them. */
export type BodyParts = readonly Uint8Array[];

/** What parts are written to: a request, which takes a part at a time when it is told to wait. */
interface PartWriter {
  write(part: Uint8Array): boolean;
  end(part?: Uint8Array): unknown;
  once(event: "drain", listener: () => void): unknown;
}

// A write call costs more than the copy of a part below this size.
const SMALL_BYTES = 64 * 1024;

/** The same bytes with small neighbours in one part; large ones are not copied. */
export function packParts(parts: BodyParts): Uint8Array[] {
  const packed: Uint8Array[] = [];
  let small: Uint8Array[] = [];
  let bytes = 0;
  const flush = () => {
    const [only] = small;
    if (only) packed.push(small.length === 1 ? only : Buffer.concat(small, bytes));
    small = [];
    bytes = 0;
  };
  for (const part of parts) {
    if (bytes + part.length > SMALL_BYTES) flush();
    small.push(part);
    bytes += part.length;
  }
  flush();
  return packed;
}

/** Bytes of a body. */
export function lengthOf(parts: BodyParts): number {
  return parts.reduce((sum, part) => sum + part.length, 0);
}

/** Writes a body and ends the request; a long one part by part, as fast as the other side takes it. */
export function writeParts(to: PartWriter, parts: BodyParts): void {
  let next = 0;
  const last = parts.length - 1;
  const go = () => {
    for (; next < last; next++) {
      const part = parts[next];
      if (!part || to.write(part)) continue;
      next++;
      to.once("drain", go);
      return;
    }
    to.end(parts[last]);
  };
  go();
}
