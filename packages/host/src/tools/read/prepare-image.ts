import { once } from "node:events";
import { fileKind } from "../../platform/file-kind.ts";
import { MissingPart, partPath } from "../../platform/installed-part.ts";
import { DEFAULT_IMAGE_LIMITS, type ImageLimits } from "../definition.ts";
import { imageSize } from "./image-size.ts";
import { IMAGE_WORKER, type ImageAnswer, type ImageJob } from "./image-worker.ts";

export interface PreparedImage {
  readonly ok: true;
  /** Base64. */
  readonly data: string;
  readonly mimeType: string;
  readonly original: {
    readonly mimeType: string;
    readonly width: number;
    readonly height: number;
    readonly bytes: number;
  };
  /** Pixels of what is sent; the original's when it was sent as it is. */
  readonly width: number;
  readonly height: number;
}

/** Why there is no image to send, for the model: "is damaged …". */
export interface ImageProblem {
  readonly ok: false;
  readonly reason: string;
}

/** Decoded, a picture takes 4 bytes a pixel, twice while it is shrunk; a small file can claim any size. */
const MAX_PIXELS = 100_000_000;

/** Triangle: as good as the better ones when shrinking by a factor, and much faster. */
const SAMPLING_FILTER = 2;

const DECODER = "@silvia-odwyer/photon-node";

const NO_LIMITS: ImageLimits = { maxWidth: Infinity, maxHeight: Infinity, maxBase64Bytes: Infinity };

export interface PrepareOptions {
  readonly limits?: ImageLimits;
  /** False: the image is sent as it is when its bytes are within the limit, whatever its pixels; default true. */
  readonly resize?: boolean;
  readonly signal?: AbortSignal;
}

/**
 * Makes an image fit to be sent: decoded once, since a broken one poisons the whole conversation (R056), and made
 * smaller when it is over the limits (R058). Animations are sent as they are when they fit, else as their first frame.
 */
export async function prepareImage(
  bytes: Buffer,
  { limits = DEFAULT_IMAGE_LIMITS, resize = true, signal }: PrepareOptions = {},
): Promise<PreparedImage | ImageProblem> {
  const kind = fileKind(bytes.subarray(0, 64));
  if (kind.kind !== "image") return { ok: false, reason: "is not an image" };
  const { mimeType } = kind;
  const claimed = imageSize(bytes, mimeType);
  const damaged: ImageProblem = { ok: false, reason: `begins like ${mimeType} but is damaged and cannot be decoded` };
  if (!claimed) return damaged;
  if (claimed.width * claimed.height > MAX_PIXELS) {
    return { ok: false, reason: `is ${claimed.width}x${claimed.height} pixels, too large to be decoded` };
  }
  if (!resize && base64Length(bytes.length) > limits.maxBase64Bytes) {
    return { ok: false, reason: "is too large to be sent as it is, and images.autoResize is off in the settings" };
  }
  const answer = await decodeInThread(bytes, resize ? limits : NO_LIMITS, signal);
  if (!answer.ok) return answer.decoderProblem === undefined ? damaged : undecodable(answer.decoderProblem);
  const { width, height, smaller } = answer;
  const sent = smaller ?? { bytes, mimeType, width, height };
  return {
    ok: true,
    data: Buffer.from(sent.bytes.buffer, sent.bytes.byteOffset, sent.bytes.length).toString("base64"),
    mimeType: sent.mimeType,
    original: { mimeType, width, height, bytes: bytes.length },
    width: sent.width,
    height: sent.height,
  };
}

/** Whether the image is sound cannot be known, and one that is not would spoil the whole conversation (R056). */
function undecodable(problem: string): ImageProblem {
  return { ok: false, reason: `is an image that cannot be decoded here: ${problem}` };
}

function base64Length(bytes: number): number {
  return Math.ceil(bytes / 3) * 4;
}

async function decodeInThread(bytes: Buffer, limits: ImageLimits, signal?: AbortSignal): Promise<ImageAnswer> {
  const { Worker } = await import("node:worker_threads");
  const photonPath = decoderPath();
  if (photonPath instanceof MissingPart) return { ok: false, decoderProblem: photonPath.message };
  const job: ImageJob = { decoder: DECODER, photonPath, bytes, limits, samplingFilter: SAMPLING_FILTER };
  const worker = new Worker(IMAGE_WORKER, {
    eval: true,
    workerData: job,
    execArgv: [],
    env: {},
    stderr: true,
  });
  try {
    // An `error` of the worker (out of memory) rejects this.
    const [answer]: ImageAnswer[] = await once(worker, "message", signal ? { signal } : {});
    return answer ?? { ok: false };
  } catch (error) {
    if (signal?.aborted) throw error;
    return { ok: false, decoderProblem: `the decoder failed (${error instanceof Error ? error.message : error})` };
  } finally {
    await worker.terminate();
  }
}

function decoderPath(): string | MissingPart {
  try {
    return partPath([DECODER]);
  } catch (error) {
    if (error instanceof MissingPart) return error;
    throw error;
  }
}
