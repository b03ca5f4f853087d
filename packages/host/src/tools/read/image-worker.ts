import type { ImageLimits } from "../definition.ts";

/** What the worker gets. */
export interface ImageJob {
  /** Absolute path of photon-node. */
  readonly photonPath: string;
  readonly bytes: Uint8Array;
  readonly limits: ImageLimits;
  /** Numbers, not names, since nothing from outside is at hand in the worker. */
  readonly samplingFilter: number;
}

/** What it gives back; `bytes` only when the image had to be made smaller. */
export type ImageAnswer =
  | { readonly ok: false }
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
 * The body of the worker thread that decodes and shrinks images. A thread of its own, because a large image takes a
 * second of computing, and because the memory that a WebAssembly module took is only given back with its thread.
 * It runs from its source text (a bundle has no file for it): it may use nothing from outside its own braces.
 */
export function imageWorker(load: NodeJS.Require): void {
  const { parentPort, workerData }: typeof import("node:worker_threads") = load("node:worker_threads");
  const { photonPath, bytes, limits, samplingFilter }: ImageJob = workerData;
  const photon: typeof import("@silvia-odwyer/photon-node") = load(photonPath);
  const fits = (length: number) => Math.ceil(length / 3) * 4 <= limits.maxBase64Bytes;
  const encoders = [
    { mimeType: "image/png", encode: (image: { get_bytes(): Uint8Array }) => image.get_bytes() },
    ...[85, 70, 50].map((quality) => ({
      mimeType: "image/jpeg",
      encode: (image: { get_bytes_jpeg(quality: number): Uint8Array }) => image.get_bytes_jpeg(quality),
    })),
  ];
  const answer = (): ImageAnswer => {
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
  };
  try {
    parentPort?.postMessage(answer());
  } catch {
    // The decoder gives up on bytes that are no image by a trap of the WebAssembly machine: there is no reason to tell.
    parentPort?.postMessage({ ok: false });
  }
}
