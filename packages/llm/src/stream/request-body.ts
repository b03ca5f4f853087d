/** The bytes of a request: these parts, one behind the other. Nobody changes them. */
export type BodyParts = readonly Uint8Array[];

/** What parts are written to: a request, which takes a part at a time when it is told to wait. */
interface PartWriter {
  write(part: Uint8Array): boolean;
  end(): unknown;
  once(event: "drain", listener: () => void): unknown;
}

const NOTHING = new Uint8Array();

/** Bytes of a body. */
export function lengthOf(parts: BodyParts): number {
  return parts.reduce((sum, part) => sum + part.length, 0);
}

// What is written without a look at the other side; what is written at once goes out in one system call.
const BATCH_BYTES = 64 * 1024;

/** Writes a body and ends the request; a long one batch by batch, as fast as the other side takes it. */
export function writeParts(to: PartWriter, parts: BodyParts): void {
  let next = 0;
  const go = () => {
    let bytes = 0;
    let ready = true;
    while (next < parts.length && (ready || bytes < BATCH_BYTES)) {
      const part = parts[next++] ?? NOTHING;
      bytes += part.length;
      ready = to.write(part);
    }
    if (next === parts.length) to.end();
    else to.once("drain", go);
  };
  go();
}
