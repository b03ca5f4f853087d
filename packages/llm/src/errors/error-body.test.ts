import { describe, expect, it } from "vitest";
import { classifyEvent, classifyResponse } from "./classify.ts";
import { readErrorBody } from "./error-body.ts";

const ORIGIN = { provider: "vendor", secrets: ["my-very-secret-key"] };
const MB = 1_000_000;
const NASTY = [
  "<title",
  "<title>",
  "<h1 ",
  "&",
  "&#",
  " ",
  "\n",
  "\r",
  "{",
  '{"error":',
  "[",
  "1s",
  "1m ",
  "9",
  "https://",
  "sk-",
  "tokens ",
  "try again in 1s",
];

describe("an error that is as long as it likes", () => {
  it.each(NASTY)("R304 is cut before any pattern sees it: %j a million characters long", (piece) => {
    const text = `<html>${piece.repeat(MB / piece.length)}`;
    for (const body of [
      text,
      text.slice(6),
      { error: { message: text.slice(6), code: text } },
      { detail: [{ msg: text }] },
    ]) {
      const read = readErrorBody(body);
      expect(read.message.length).toBeLessThanOrEqual(8100);
      for (const code of read.codes) expect(code.length).toBeLessThanOrEqual(200);
      const inStream = classifyEvent(body, ORIGIN);
      const refused = classifyResponse({ status: 400, headers: {}, body: JSON.stringify(body) }, ORIGIN);
      for (const { message } of [inStream, refused]) expect(message.length).toBeLessThan(900);
    }
  });

  it("R304 an error with as many parts as it likes is read in part", () => {
    const many = Array.from({ length: 50_000 }, (_, index) => ({ code: `c${index}`, message: `m${index}` }));
    const read = readErrorBody({ error: many, errors: many, details: many });
    expect(read.codes.length).toBeLessThanOrEqual(20);
  });

  it("R306 names of an object's own kind are names like others", () => {
    for (const name of ["constructor", "__proto__", "toString", "hasOwnProperty"]) {
      const body = JSON.parse(`{"error": {"code": "${name}", "type": "${name}", "message": "${name}"}}`);
      expect(classifyEvent(body, ORIGIN)).toMatchObject({ kind: "unknown", message: expect.any(String) });
      expect(classifyResponse({ status: 400, headers: {}, body: JSON.stringify(body) }, ORIGIN).kind).toBe(
        "invalid_request",
      );
    }
  });
});
