import type { FileContent } from "../read/content.ts";

/**
 * Judges and decodes a file, or the head of one (`cut`), by the rules of the tool `read`: UTF-8, UTF-16 with and without
 * a mark, and the older encodings are texts, everything else is an image or binary.
 */
export async function fileContent(bytes: Buffer, { cut = false }: { cut?: boolean } = {}): Promise<FileContent> {
  const { contentOf } = await import("../read/content.ts");
  return contentOf(bytes, cut);
}
