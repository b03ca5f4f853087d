import { describe, expect, it } from "vitest";
import { fileContent } from "./file-content.ts";

const text = (value: string) => ({ kind: "text", text: value });

describe("fileContent", () => {
  it("R057 decodes UTF-8, UTF-16 with and without a mark, and older encodings", async () => {
    expect(await fileContent(Buffer.from("\uFEFFhé\n"))).toEqual(text("hé\n"));
    const wide = Buffer.from("hé, wide\n", "utf16le");
    expect(await fileContent(Buffer.concat([Buffer.from([0xff, 0xfe]), wide]))).toEqual(text("hé, wide\n"));
    expect(await fileContent(Buffer.concat([Buffer.from([0xfe, 0xff]), Buffer.from(wide).swap16()]))).toEqual(
      text("hé, wide\n"),
    );
    expect(await fileContent(wide)).toEqual(text("hé, wide\n"));
    expect(await fileContent(Buffer.from("café au lait\n", "latin1"))).toEqual(text("café au lait\n"));
    expect(await fileContent(Buffer.alloc(0))).toEqual(text(""));
  });

  it("R057 knows binaries also without a zero byte, and images", async () => {
    expect(await fileContent(Buffer.from("%PDF-1.4\nabc"))).toEqual({ kind: "binary", type: "PDF document" });
    const noise = Buffer.from(Array.from({ length: 500 }, (_, index) => (index * 7) % 31 || 1));
    expect(await fileContent(noise)).toMatchObject({ kind: "binary" });
    expect(await fileContent(Buffer.from("GIF89a…"))).toEqual({ kind: "image", mimeType: "image/gif" });
    // Text at the head does not vouch for what comes behind it.
    expect(await fileContent(Buffer.concat([Buffer.alloc(70_000, "a\n"), Buffer.from([0, 1, 2])]))).toMatchObject({
      kind: "binary",
    });
  });

  it("drops a character that a cut tore, and only then", async () => {
    const torn = Buffer.from("aé").subarray(0, 2);
    expect(await fileContent(torn, { cut: true })).toEqual(text("a"));
    expect(await fileContent(torn)).not.toEqual(text("a"));
  });
});
