import type { FileHandle } from "node:fs/promises";
import type { AgentToolResult } from "@tau/agent";
import type { ImageType } from "../../platform/file-kind.ts";
import { errorResult, type ToolEnvironment } from "../definition.ts";
import { byteCount } from "../files/byte-count.ts";
import type { FileStamp } from "../files/file-reads.ts";
import { type PreparedImage, prepareImage } from "./prepare-image.ts";

/** A larger file is hardly a picture to look at, and it is held in memory several times. */
const MAX_FILE_BYTES = 100 * 1024 * 1024;

export interface ImageRead {
  readonly args: { readonly path: string };
  readonly file: FileHandle;
  readonly stamp: FileStamp;
  readonly mimeType: ImageType;
  readonly environment: ToolEnvironment;
  readonly signal: AbortSignal;
}

/** The result of reading an image: a line that says what it is and the image, or only a line that says why not. */
export async function showImage({
  args,
  file,
  stamp,
  mimeType,
  environment,
  signal,
}: ImageRead): Promise<AgentToolResult> {
  const { imageLimits, blockImages, resizeImages = true } = environment.settings;
  const about = `${mimeType}, ${byteCount(stamp.size)}`;
  if (blockImages)
    return errorResult(`${args.path} is an image (${about}), and images are switched off in the settings.`);
  if (stamp.size > MAX_FILE_BYTES) return errorResult(`${args.path} is an image (${about}): too large to be shown.`);
  const bytes = await file.readFile();
  const image = await prepareImage(bytes, {
    ...(imageLimits && { limits: imageLimits }),
    resize: resizeImages,
    signal,
  });
  if (!image.ok) return errorResult(`${args.path} ${image.reason} (${about}). No image is shown.`);
  const { original, width, height, data } = image;
  return {
    content: [
      { type: "text", text: caption(image) },
      { type: "image", data, mimeType: image.mimeType },
    ],
    details: { original, shown: { mimeType: image.mimeType, width, height } },
  };
}

/** With the scale, so that positions in what is shown can be turned into positions in the original. */
function caption({ original, width, height, mimeType }: PreparedImage): string {
  const from = `${original.mimeType}, ${original.width}x${original.height}, ${byteCount(original.bytes)}`;
  if (width === original.width && height === original.height && mimeType === original.mimeType)
    return `[Image: ${from}]`;
  const scale = (original.width / width).toFixed(2);
  return `[Image: ${from}; shown as ${mimeType}, ${width}x${height}. Multiply positions by ${scale} for the original.]`;
}
