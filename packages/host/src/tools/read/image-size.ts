import type { ImageType } from "../../platform/file-kind.ts";

export interface ImageSize {
  /** Pixels. */
  readonly width: number;
  /** Pixels. */
  readonly height: number;
}

/** The size an image claims in its header, before anything is decoded; `undefined` when the header is broken. */
export function imageSize(bytes: Buffer, mimeType: ImageType): ImageSize | undefined {
  try {
    const size = READERS[mimeType](bytes);
    return size && size.width > 0 && size.height > 0 ? size : undefined;
  } catch (error) {
    // Reading past the end of a stub.
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

const READERS: Readonly<Record<ImageType, (bytes: Buffer) => ImageSize | undefined>> = {
  "image/png": (bytes) => ({ width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) }),
  "image/gif": (bytes) => ({ width: bytes.readUInt16LE(6), height: bytes.readUInt16LE(8) }),
  "image/jpeg": jpegSize,
  "image/webp": webpSize,
};

/** Walks the segments to the frame header (ITU T.81, B.2.2). */
function jpegSize(bytes: Buffer): ImageSize | undefined {
  for (let index = 2; index < bytes.length; ) {
    if (bytes.readUInt8(index) !== 0xff) return undefined;
    const marker = bytes.readUInt8(index + 1);
    if (marker === 0xff) {
      index++;
      continue;
    }
    const isFrame = marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc;
    if (isFrame) return { width: bytes.readUInt16BE(index + 7), height: bytes.readUInt16BE(index + 5) };
    index += 2 + bytes.readUInt16BE(index + 2);
  }
  return undefined;
}

/** The three kinds of first chunk (RFC 9649). */
function webpSize(bytes: Buffer): ImageSize | undefined {
  const kind = bytes.toString("latin1", 12, 16);
  if (kind === "VP8 ") {
    return { width: bytes.readUInt16LE(26) & 0x3fff, height: bytes.readUInt16LE(28) & 0x3fff };
  }
  if (kind === "VP8L") {
    const bits = bytes.readUInt32LE(21);
    return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 };
  }
  if (kind !== "VP8X") return undefined;
  return { width: bytes.readUIntLE(24, 3) + 1, height: bytes.readUIntLE(27, 3) + 1 };
}
