import { createHash } from "node:crypto";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createServer, type RequestListener, type Server } from "node:http";
import { type AddressInfo, createServer as createTcpServer, type Socket } from "node:net";
import { setImmediate as nextTurn } from "node:timers/promises";
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import { afterEach, describe, expect, it } from "vitest";
import { StreamError } from "./stream-error.ts";
import { type HttpRequest, type HttpResponse, sendRequest } from "./transport.ts";

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function listen(server: Server): Promise<string> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  cleanups.push(() => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const serve = (listener: RequestListener) => listen(createServer(listener));

/** A server that is asked for one connection at a time and gives its socket to the test. */
async function serveRaw(onSocket: (socket: Socket) => void): Promise<string> {
  const sockets = new Set<Socket>();
  const server = createTcpServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => sockets.delete(socket));
    onSocket(socket);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  cleanups.push(() => {
    for (const socket of sockets) socket.destroy();
    return new Promise((resolve) => server.close(resolve));
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const post = (url: string, more: Partial<HttpRequest> = {}): Promise<HttpResponse> =>
  sendRequest({ url, body: "{}", ...more });

async function failureOf(promise: Promise<unknown>): Promise<StreamError> {
  const error = await promise.then(
    () => undefined,
    (cause: unknown) => cause,
  );
  if (error instanceof StreamError) return error;
  throw new Error(`expected a StreamError, got ${String(error)}`);
}

async function textOf(response: HttpResponse): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of response.body) chunks.push(chunk);
  return Buffer.concat(chunks).toString("utf8");
}

describe("sendRequest", () => {
  it("posts the body and gives status, headers and body", async () => {
    const url = await serve(async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk);
      response.writeHead(201, { "X-Test": "a" });
      response.end(`${request.method} ${request.headers["content-length"]} ${Buffer.concat(chunks)}`);
    });
    const response = await post(`${url}/v1?x=1`, { body: "hé", headers: { authorization: "Bearer k" } });
    expect([response.status, response.headers["x-test"]]).toEqual([201, "a"]);
    expect(await textOf(response)).toBe("POST 3 hé");
  });

  it("sends a long body in parts as they are, also to a server that reads slowly or not at all", async () => {
    const url = await serve(async (request, response) => {
      if (request.url === "/unread") return void response.writeHead(413).end("no");
      await new Promise((resolve) => setImmediate(resolve));
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk);
      const body = Buffer.concat(chunks);
      response.end(`${request.headers["content-length"]} ${createHash("sha256").update(body).digest("hex")}`);
    });
    const parts = [1, 70_000, 3, 4, 400_000, 0, 65_536, 5, 9_000_000, 2].map((size, index) =>
      Buffer.alloc(size, index),
    );
    const hash = createHash("sha256").update(Buffer.concat(parts)).digest("hex");
    expect(await textOf(await post(url, { body: parts }))).toBe(`${Buffer.concat(parts).length} ${hash}`);
    expect(await textOf(await post(url, { body: [] }))).toMatch(/^0 /);
    expect((await post(`${url}/unread`, { body: parts })).status).toBe(413);
  });

  it("keeps connections: requests one after another use one", async () => {
    const ports = new Set<number | undefined>();
    const url = await serve((request, response) => {
      ports.add(request.socket.remotePort);
      request.resume();
      response.end("ok");
    });
    for (let i = 0; i < 5; i += 1) await textOf(await post(url));
    expect(ports.size).toBe(1);
  });

  it("keeps the connection when the reader stops at the last frame before the end", async () => {
    const ports = new Set<number | undefined>();
    const url = await serve((request, response) => {
      ports.add(request.socket.remotePort);
      request.resume();
      response.write("data: [DONE]\n\n");
      request.on("end", () => response.end());
    });
    for (let i = 0; i < 3; i += 1) {
      const { body } = await post(url);
      for await (const chunk of body) if (Buffer.from(chunk).includes("[DONE]")) break;
      await body.closed;
    }
    expect(ports.size).toBe(1);
  });

  it("replaces a kept connection that the server had closed, once and unseen", async () => {
    let connections = 0;
    const url = await serveRaw((socket) => {
      connections += 1;
      const mine = connections;
      socket.on("data", () => {
        // The first connection answers once and is torn down by the next request on it.
        if (mine === 1 && socket.bytesWritten > 0) socket.resetAndDestroy();
        else socket.write("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok");
      });
    });
    expect(await textOf(await post(url))).toBe("ok");
    expect(await textOf(await post(url))).toBe("ok");
    expect(connections).toBe(2);
  });

  it("sends a long body whole when it replaces a connection that was closed in the middle of it", async () => {
    let answered = 0;
    let torn = 0;
    const url = await serve((request, response) => {
      if (answered === 1 && torn++ === 0) return void request.once("data", () => request.socket.resetAndDestroy());
      answered += 1;
      let bytes = 0;
      request.on("data", (chunk: Buffer) => {
        bytes += chunk.length;
      });
      request.on("end", () => response.end(String(bytes)));
    });
    const body = Array.from({ length: 60 }, () => Buffer.alloc(100_000));
    expect(await textOf(await post(url, { body }))).toBe("6000000");
    expect(await textOf(await post(url, { body }))).toBe("6000000");
    expect(torn).toBe(2);
  });

  it("a fresh connection that is torn down is not tried again", async () => {
    let connections = 0;
    const url = await serveRaw((socket) => {
      connections += 1;
      socket.on("data", () => socket.resetAndDestroy());
    });
    const error = await failureOf(post(url));
    expect([error.reason, error.code, connections]).toEqual(["connection", "ECONNRESET", 1]);
  });

  it("names server and remedy when nobody listens", async () => {
    const url = await serve(() => undefined);
    await cleanups.pop()?.();
    const error = await failureOf(post(url));
    expect(error.message).toMatch(/127\.0\.0\.1:\d+ refused the connection; is the server running\? \(ECONNREFUSED\)/);
  });

  it("R022 no answer at all: the first-byte time-out ends it, and says so", async () => {
    const url = await serve(() => undefined);
    const error = await failureOf(post(url, { timeouts: { firstByteMs: 50 } }));
    expect(error.reason).toBe("first_byte_timeout");
    expect(error.message).toMatch(/sent no data for 0\.1 s/);
  });

  it("R022 headers and then nothing: the first-byte time-out covers the body", async () => {
    const url = await serve((_request, response) => response.writeHead(200).flushHeaders());
    const response = await post(url, { timeouts: { firstByteMs: 100 } });
    expect((await failureOf(textOf(response))).reason).toBe("first_byte_timeout");
  });

  it("R022 one chunk and then nothing: the idle time-out ends it", async () => {
    const url = await serve((_request, response) => response.write("data"));
    const response = await post(url, { timeouts: { idleMs: 50 } });
    const error = await failureOf(textOf(response));
    expect([error.reason, error.message]).toEqual([
      "idle_timeout",
      expect.stringMatching(/^127.*sent no data for 0\.1 s$/),
    ]);
  });

  it("R022 a slow reader is not an idle server: time counts only while it waits", async () => {
    const url = await serve((_request, response) => response.end("x".repeat(300_000)));
    const response = await post(url, { timeouts: { idleMs: 20 } });
    let size = 0;
    for await (const chunk of response.body) {
      size += chunk.length;
      const until = performance.now() + 30;
      while (performance.now() < until);
    }
    expect(size).toBe(300_000);
  });

  it("does not read ahead of a slow reader: the server is slowed", async () => {
    const total = 40_000_000;
    let written = 0;
    const url = await serve((_request, response) => {
      const chunk = Buffer.alloc(64 * 1024);
      const more = () => {
        while (written < total) {
          written += chunk.length;
          if (!response.write(chunk)) return response.once("drain", more);
        }
        return response.end();
      };
      more();
    });
    const reader = (await post(url)).body[Symbol.asyncIterator]();
    await reader.next();
    // Until nothing moves any more: what was written then sits in the buffers of both sockets.
    for (let before = -1; before !== written; ) {
      before = written;
      for (let turn = 0; turn < 50; turn += 1) await nextTurn();
    }
    expect(written).toBeLessThan(total / 2);
  });

  it("loads TLS, compression and the proxy only when they are needed", async () => {
    const files = ["transport", "route", "response-body", "connection-error", "sse", "stream-error"];
    for (const file of files) {
      const source = await readFile(new URL(`./${file}.ts`, import.meta.url), "utf8");
      expect(source).not.toMatch(/^import (?!type).*"(node:(https|tls|zlib|net)|\.\/proxy\.ts)"/m);
    }
  });

  it("aborts at once, before the answer and in it, and tears the connection down", async () => {
    const closed: Promise<unknown>[] = [];
    const url = await serve((request, response) => {
      closed.push(once(response, "close"));
      if (request.url === "/stream") response.write("data");
    });
    const before = new AbortController();
    const waiting = failureOf(post(url, { signal: before.signal }));
    while (closed.length === 0) await nextTurn();
    before.abort();
    expect((await waiting).reason).toBe("aborted");

    const within = new AbortController();
    const response = await post(`${url}/stream`, { signal: within.signal });
    const reading = failureOf(textOf(response));
    within.abort();
    expect((await reading).reason).toBe("aborted");
    await Promise.all(closed);

    const early = await failureOf(post(url, { signal: AbortSignal.abort() }));
    expect(early.reason).toBe("aborted");
    expect(closed).toHaveLength(2);
  });

  it("R023 a connection dropped in the answer is an error after the bytes that came", async () => {
    const url = await serve((_request, response) => {
      response.write("data: 1\n\n", () => response.destroy());
    });
    const response = await post(url);
    let text = "";
    const read = (async () => {
      for await (const chunk of response.body) text += Buffer.from(chunk).toString();
    })();
    const error = await failureOf(read);
    expect([error.reason, text]).toEqual(["connection", "data: 1\n\n"]);
  });

  it.each([
    ["gzip", gzipSync],
    ["deflate", deflateSync],
    ["br", brotliCompressSync],
  ])("decodes %s", async (encoding, compress) => {
    const url = await serve((_request, response) => {
      response.writeHead(200, { "content-encoding": encoding });
      response.end(compress("data: hé\n\n".repeat(1000)));
    });
    expect(await textOf(await post(url))).toBe("data: hé\n\n".repeat(1000));
  });

  it("damaged compressed data is a stream error", async () => {
    const url = await serve((_request, response) => {
      response.writeHead(200, { "content-encoding": "gzip" });
      response.end("no gzip");
    });
    expect((await failureOf(textOf(await post(url)))).reason).toBe("bad_frame");
  });

  it("reads an error body up to the cap", async () => {
    const url = await serve((_request, response) => response.writeHead(500).end("é".repeat(100_000)));
    const { body } = await post(url);
    const text = await body.text(64 * 1024);
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(64 * 1024 + 3);
    expect(text.length).toBeGreaterThan(32_000);
  });

  it("R030 never follows a redirect to another host with the key", async () => {
    const seen: unknown[] = [];
    const other = await serve((request, response) => {
      seen.push(request.headers.authorization);
      response.end();
    });
    for (const status of [301, 302, 303, 307, 308]) {
      const url = await serve((_request, response) => response.writeHead(status, { location: `${other}/x` }).end());
      const error = await failureOf(post(url, { headers: { authorization: "Bearer secret" } }));
      expect(error.reason).toBe("redirect");
      expect(error.message).toContain(other);
    }
    expect(seen).toEqual([]);
  });

  it("follows a redirect to the same server with method and body, and not in a circle", async () => {
    const url = await serve(async (request, response) => {
      let body = "";
      for await (const chunk of request) body += chunk;
      if (request.url === "/v1/") response.end(`${request.method} ${body}`);
      else response.writeHead(307, { location: request.url === "/v1" ? "/v1/" : "/circle" }).end();
    });
    expect(await textOf(await post(`${url}/v1`, { body: "hello" }))).toBe("POST hello");
    expect((await failureOf(post(`${url}/circle`))).reason).toBe("redirect");
  });

  it.each(["ftp://x/y", "nonsense", ""])("refuses the URL %j with a remedy", async (url) => {
    const error = await failureOf(post(url));
    expect([error.reason, error.message]).toEqual(["bad_request", expect.stringContaining("baseUrl")]);
  });

  it("refuses a header that cannot be sent without showing it", async () => {
    const error = await failureOf(post("http://127.0.0.1:1/", { headers: { authorization: "Bearer secret\nkey" } }));
    expect(error.reason).toBe("bad_request");
    expect(error.message).not.toContain("secret");
  });
});
