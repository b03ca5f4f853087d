// Large enough to make few writes, small enough to stay out of the way of everything else.
const CHUNK_CHARS = 64 * 1024;

/** Joins small pieces to larger ones; a piece that is larger itself passes as it is. */
export function* chunksOf(pieces: Iterable<string>): Generator<string> {
  let waiting: string[] = [];
  let length = 0;
  for (const piece of pieces) {
    waiting.push(piece);
    length += piece.length;
    if (length < CHUNK_CHARS) continue;
    yield waiting.join("");
    waiting = [];
    length = 0;
  }
  if (length > 0) yield waiting.join("");
}
