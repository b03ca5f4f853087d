import type { ImageLimits } from "../definition.ts";

/** What the worker gets. */
export interface ImageJob {
  /** Name of its package, for messages. */
  readonly decoder: string;
  /** Absolute path of its module. */
  readonly photonPath: string;
  readonly bytes: Uint8Array;
  readonly limits: ImageLimits;
  /** Numbers, not names, since nothing from outside is at hand in the worker. */
  readonly samplingFilter: number;
}

/** What it gives back; `bytes` only when the image had to be made smaller. */
export type ImageAnswer =
  | { readonly ok: false /** The decoder could not be loaded. */; readonly decoderProblem?: string }
  | {
      readonly ok: true;
      readonly width: number;
      readonly height: number;
      readonly smaller?: {
        readonly bytes: Uint8Array;
        readonly mimeType: string;
        readonly width: number;
        readonly height: number;
      };
    };

/**
 * The program of the worker thread that decodes and shrinks images. A thread of its own, because a large image takes a
 * second of computing, and because the memory that a WebAssembly module took is only given back with its thread.
 * It is a text, not a function that is turned into one: a bundle has no file for it, and bundlers, loaders and coverage
 * tools change the source of functions in ways that only work where the function stands (report R281).
 */
export const IMAGE_WORKER = `
const { parentPort, workerData } = require("node:worker_threads");
const { decoder, photonPath, bytes, limits, samplingFilter } = workerData;
const fits = (length) => Math.ceil(length / 3) * 4 <= limits.maxBase64Bytes;
const encoders = [
  { mimeType: "image/png", encode: (image) => image.get_bytes() },
  ...[85, 70, 50].map((quality) => ({ mimeType: "image/jpeg", encode: (image) => image.get_bytes_jpeg(quality) })),
];
function shown(photon) {
  const image = photon.PhotonImage.new_from_byteslice(bytes);
  const width = image.get_width();
  const height = image.get_height();
  const scale = Math.min(1, limits.maxWidth / width, limits.maxHeight / height);
  if (scale === 1 && fits(bytes.length)) return { ok: true, width, height };
  for (let factor = scale; factor > scale / 100; factor *= 0.7) {
    const newWidth = Math.max(1, Math.round(width * factor));
    const newHeight = Math.max(1, Math.round(height * factor));
    const resized = factor === 1 ? image : photon.resize(image, newWidth, newHeight, samplingFilter);
    for (const { mimeType, encode } of encoders) {
      const encoded = encode(resized);
      if (fits(encoded.length)) {
        return { ok: true, width, height, smaller: { bytes: encoded, mimeType, width: newWidth, height: newHeight } };
      }
    }
  }
  return { ok: false };
}
function answer() {
  let photon;
  try {
    photon = require(photonPath);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return { ok: false, decoderProblem: "the package " + decoder + " cannot be loaded (" + reason + "). Install it again: npm install " + decoder };
  }
  try {
    return shown(photon);
  } catch {
    // The decoder gives up on bytes that are not an image by a trap of the WebAssembly machine, without a reason.
    return { ok: false };
  }
}
parentPort.postMessage(answer());
`;
