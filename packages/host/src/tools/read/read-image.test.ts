import { deflateSync } from "node:zlib";
import { expect, it } from "vitest";
import { filesBench } from "../__fixtures__/files-bench.ts";
import { imageSize } from "./image-size.ts";
import { createReadTool } from "./read-tool.ts";

const crcTable = Array.from({ length: 256 }, (_, index) => {
  let value = index;
  for (let bit = 0; bit < 8; bit++) value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1;
  return value >>> 0;
});

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, "latin1"), data]);
  let crc = 0xffffffff;
  for (const byte of body) crc = (crcTable[(crc ^ byte) & 255] ?? 0) ^ (crc >>> 8);
  const ends = Buffer.alloc(8);
  ends.writeUInt32BE(data.length, 0);
  ends.writeUInt32BE((crc ^ 0xffffffff) >>> 0, 4);
  return Buffer.concat([ends.subarray(0, 4), body, ends.subarray(4)]);
}

/** A real PNG in RGB; `noise` makes it as large as its pixels. */
function png(width: number, height: number, noise = false): Buffer {
  const rows = Buffer.alloc((width * 3 + 1) * height);
  let seed = 1;
  for (let at = 0; at < rows.length; at++) {
    seed = (seed * 1103515245 + 12345) & 0x7fffffff;
    const isFilter = at % (width * 3 + 1) === 0;
    rows[at] = isFilter ? 0 : noise ? seed >>> 16 : (at >> 9) & 255;
  }
  const header = Buffer.from([0, 0, 0, 0, 0, 0, 0, 0, 8, 2, 0, 0, 0]);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  const data = deflateSync(rows, { level: noise ? 0 : 1 });
  return Buffer.concat([
    Buffer.from("\x89PNG\r\n\x1a\n", "latin1"),
    chunk("IHDR", header),
    chunk("IDAT", data),
    chunk("IEND", Buffer.alloc(0)),
  ]);
}

const GIF = Buffer.from("R0lGODlhAQABAIAAAP///wAAACH5BAAAAAAALAAAAAABAAEAAAICRAEAOw==", "base64");
const WEBP = Buffer.from("UklGRhoAAABXRUJQVlA4TA0AAAAvAAAAEAcQERGIiP4HAA==", "base64");
const JPEG = Buffer.from(
  "/9j/4AAQSkZJRgABAQEASABIAAD/2wBDAP//////////////////////////////////////////////////////////////////////////////////////wgALCAABAAEBAREA/8QAFBABAAAAAAAAAAAAAAAAAAAAAP/aAAgBAQABPxA=",
  "base64",
);

it("R057 images are known by content, whatever their name, and sent as they are when they fit", async () => {
  const bench = filesBench();
  const images: [string, Buffer][] = [
    ["image/png", png(3, 2)],
    ["image/gif", GIF],
    ["image/webp", WEBP],
  ];
  for (const [mimeType, bytes] of images) {
    bench.put("no-extension", bytes);
    const run = await bench.run(createReadTool, { path: "no-extension" });
    expect(run.images).toEqual([{ type: "image", mimeType, data: bytes.toString("base64") }]);
    expect(run.text).toContain(`[Image: ${mimeType}, `);
  }
  expect(imageSize(JPEG, "image/jpeg")).toEqual({ width: 1, height: 1 });
  bench.put("drawing.svg", "<svg/>\n");
  expect((await bench.run(createReadTool, { path: "drawing.svg" })).text).toBe("<svg/>\n");
});

it.each([
  ["a stub of 69 bytes", png(64, 64).subarray(0, 69)],
  ["only the signature", png(1, 1).subarray(0, 8)],
  ["a truncated image", png(300, 300, true).subarray(0, 100_000)],
  ["no pixels", png(0, 5)],
  ["a GIF header", Buffer.from("GIF89a\x10\0\x10\0", "latin1")],
  ["a JPEG header", JPEG.subarray(0, 30)],
  ["a WebP header", WEBP.subarray(0, 25)],
])("R056 a broken image gives a text and no image: %s", async (_, bytes) => {
  const bench = filesBench();
  bench.put("image.png", bytes);
  const run = await bench.run(createReadTool, { path: "image.png" });
  expect(run.isError).toBe(true);
  expect(run.images).toEqual([]);
  expect(run.text).toContain("damaged");
});

it("R056 text named .png is text, an empty .jpg is empty, a bomb is refused unseen", async () => {
  const bench = filesBench();
  bench.put("text.png", "hello\n");
  expect(await bench.run(createReadTool, { path: "text.png" })).toMatchObject({ text: "hello\n", images: [] });
  bench.put("empty.jpg", "");
  expect(await bench.run(createReadTool, { path: "empty.jpg" })).toMatchObject({ images: [] });
  const bomb = png(4, 4);
  bomb.writeUInt32BE(60_000, 16);
  bomb.writeUInt32BE(60_000, 20);
  bench.put("bomb.png", bomb);
  expect((await bench.run(createReadTool, { path: "bomb.png" })).text).toContain("60000x60000");
});

it("R058 a large image is made smaller, with both sizes named", async () => {
  const bench = filesBench();
  bench.put("large.png", png(3000, 1500, true));
  const run = await bench.run(createReadTool, { path: "large.png" });
  expect(run.isError).toBe(false);
  const [image] = run.images;
  expect(image?.data.length).toBeLessThanOrEqual(4_500_000);
  const bytes = Buffer.from(image?.data ?? "", "base64");
  const shown = imageSize(bytes, image?.mimeType === "image/png" ? "image/png" : "image/jpeg");
  expect(shown).toEqual({ width: 2000, height: 1000 });
  expect(run.text).toContain("image/png, 3000x1500, 12.9 MB; shown as");
  expect(run.text).toContain("2000x1000. Multiply positions by 1.50");
});

it("R058 the limits of the settings hold, and images can be switched off", async () => {
  const limits = { maxWidth: 50, maxHeight: 50, maxBase64Bytes: 2000 };
  const bench = filesBench({ imageLimits: limits });
  bench.put("f", png(100, 60, true));
  const run = await bench.run(createReadTool, { path: "f" });
  expect(run.images[0]?.data.length).toBeLessThanOrEqual(2000);
  const blocked = filesBench({ blockImages: true });
  blocked.put("f", png(2, 2));
  expect(await blocked.run(createReadTool, { path: "f" })).toMatchObject({ images: [] });
});

it("R058 without resizing an image is sent as it is, or refused with the setting's name", async () => {
  const bench = filesBench({ resizeImages: false });
  const wide = png(2500, 10);
  bench.put("wide.png", wide);
  const run = await bench.run(createReadTool, { path: "wide.png" });
  expect(run.images).toEqual([{ type: "image", mimeType: "image/png", data: wide.toString("base64") }]);
  bench.put("large.png", png(1100, 1000, true));
  expect((await bench.run(createReadTool, { path: "large.png" })).images).toHaveLength(1);
  bench.put("large.png", png(1500, 1000, true));
  const refused = await bench.run(createReadTool, { path: "large.png" });
  expect(refused).toMatchObject({ isError: true, images: [] });
  expect(refused.text).toContain("too large to be sent as it is, and images.autoResize is off");
  bench.put("stub.png", png(64, 64).subarray(0, 69));
  expect((await bench.run(createReadTool, { path: "stub.png" })).text).toContain("damaged");
});
