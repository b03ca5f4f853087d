import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer, request as httpRequest, type IncomingMessage, type Server } from "node:http";
import { createServer as createSecureServer } from "node:https";
import { type AddressInfo, connect, type Socket } from "node:net";
import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, it } from "vitest";
import type { NetworkSettings } from "../protocol/request.ts";
import { isLoopback } from "./loopback.ts";
import { networkFromEnv } from "./network.ts";
import { bypassesProxy } from "./no-proxy.ts";
import { StreamError } from "./stream-error.ts";
import { sendRequest } from "./transport.ts";

const fixture = (name: string) => fileURLToPath(new URL(`./__fixtures__/${name}`, import.meta.url));
const CA = fixture("loopback-ca.pem");

/** A name that the proxy of the tests knows; this machine's own names are reached without one (R217). */
const HOST = "model.test";
const local = (address: string) => address.replace(HOST, "127.0.0.1");

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function listen(server: Server): Promise<number> {
  // Tunnels are not connections of the server any more, so it cannot close them itself.
  const sockets = new Set<Socket>();
  server.on("connection", (socket) => sockets.add(socket));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  cleanups.push(() => {
    for (const socket of sockets) socket.destroy();
    return new Promise((resolve) => server.close(resolve));
  });
  return (server.address() as AddressInfo).port;
}

const answer = (request: IncomingMessage, response: { end(text: string): unknown }) => {
  request.resume();
  response.end(`${request.method} ${request.url} for ${request.headers.host}`);
};

const plainTarget = () => listen(createServer(answer));

function secureTarget(): Promise<number> {
  const [key, cert] = [readFileSync(fixture("loopback-key.pem")), readFileSync(fixture("loopback-cert.pem"))];
  return listen(createSecureServer({ key, cert }, answer));
}

/** A proxy that logs what it is asked; it refuses with a status when told so. */
async function proxyServer(options: { refuse?: number; auth?: string } = {}): Promise<{ url: string; log: string[] }> {
  const log: string[] = [];
  const allowed = (request: IncomingMessage) =>
    options.auth === undefined || request.headers["proxy-authorization"] === options.auth;
  const server = createServer((request, response) => {
    log.push(`${request.method} ${request.url}`);
    const { "proxy-authorization": _credentials, ...headers } = request.headers;
    if (!allowed(request)) return response.writeHead(407).end();
    const forward = httpRequest(local(String(request.url)), { method: request.method, headers }, (inner) => {
      response.writeHead(inner.statusCode ?? 502);
      inner.pipe(response);
    });
    return request.pipe(forward);
  });
  server.on("connect", (request, socket) => {
    log.push(`CONNECT ${request.url}`);
    const status = options.refuse ?? (allowed(request) ? 200 : 407);
    socket.write(`HTTP/1.1 ${status} ${status === 200 ? "OK" : "No"}\r\n\r\n`);
    if (status !== 200) return socket.end();
    const [host, port] = local(String(request.url)).split(":");
    const inner = connect(Number(port), host);
    for (const end of [socket, inner]) end.on("error", () => [socket, inner].map((other) => other.destroy()));
    return inner.pipe(socket).pipe(inner);
  });
  return { url: `127.0.0.1:${await listen(server)}`, log };
}

async function send(url: string, network: NetworkSettings): Promise<string> {
  const response = await sendRequest({ url, body: "{}", network });
  return response.body.text(10_000);
}

async function reasonOf(promise: Promise<unknown>): Promise<[string, string]> {
  const error = await promise.then(
    () => undefined,
    (cause: unknown) => cause,
  );
  return error instanceof StreamError ? [error.reason, error.message] : ["no StreamError", String(error)];
}

describe("proxy and trust", () => {
  it("R154 https goes through a CONNECT tunnel, and the tunnel is kept", async () => {
    const port = await secureTarget();
    const proxy = await proxyServer();
    const network = { httpsProxy: `http://${proxy.url}`, extraCaFiles: [CA] };
    const url = `https://${HOST}:${port}/v1`;
    expect(await send(url, network)).toBe(`POST /v1 for ${HOST}:${port}`);
    expect(await send(url, network)).toBe(`POST /v1 for ${HOST}:${port}`);
    expect(proxy.log).toEqual([`CONNECT ${HOST}:${port}`]);
  });

  it("R154 plain http goes to the proxy with the whole URL", async () => {
    const port = await plainTarget();
    const proxy = await proxyServer();
    const url = `http://${HOST}:${port}/v1?x=1`;
    expect(await send(url, { httpProxy: proxy.url })).toBe(`POST /v1?x=1 for ${HOST}:${port}`);
    expect(proxy.log).toEqual([`POST ${url}`]);
  });

  it("R154 sends user and password of the proxy URL, decoded, and only to the proxy", async () => {
    const auth = `Basic ${Buffer.from("us er:p@ss").toString("base64")}`;
    const proxy = await proxyServer({ auth });
    const seen: unknown[] = [];
    const port = await listen(
      createServer((request, response) => {
        seen.push(request.headers["proxy-authorization"]);
        answer(request, response);
      }),
    );
    expect(await send(`http://${HOST}:${port}/`, { httpProxy: `http://us%20er:p%40ss@${proxy.url}` })).toContain(
      "POST",
    );
    expect(seen).toEqual([undefined]);
    const secure = await secureTarget();
    const network = { httpsProxy: `http://us%20er:p%40ss@${proxy.url}`, extraCaFiles: [CA] };
    expect(await send(`https://${HOST}:${secure}/`, network)).toContain("POST");
  });

  it("R154 NO_PROXY exempts the host", async () => {
    const network = { httpProxy: "http://127.0.0.1:1", noProxy: `localhost,${HOST}` };
    expect((await reasonOf(send(`http://${HOST}:9/`, network)))[1]).not.toContain("proxy");
    expect((await reasonOf(send(`http://other.${HOST.slice(1)}:9/`, network)))[1]).toContain("proxy");
  });

  it("R217 this machine is reached without the proxy, by http and https", async () => {
    const dead = { httpProxy: "http://127.0.0.1:1", httpsProxy: "http://127.0.0.1:1", extraCaFiles: [CA] };
    const [plain, secure] = [await plainTarget(), await secureTarget()];
    for (const host of ["127.0.0.1", "localhost"]) {
      expect(await send(`http://${host}:${plain}/`, dead)).toContain("POST");
      expect(await send(`https://${host}:${secure}/`, dead)).toContain("POST");
    }
  });

  it("R154 extra certificates are trusted besides the default ones, directly and through the proxy", async () => {
    const url = `https://127.0.0.1:${await secureTarget()}/`;
    const [reason, message] = await reasonOf(send(url, {}));
    expect([reason, message]).toEqual(["certificate", expect.stringContaining("NODE_EXTRA_CA_CERTS")]);
    expect(await send(url, { extraCaFiles: [CA] })).toContain("POST");
    const { customRoute } = await import("./proxy.ts");
    const { agent } = await customRoute(new URL(url), { extraCaFiles: [CA] });
    const { rootCertificates } = await import("node:tls");
    const ca = "options" in agent && typeof agent.options === "object" ? Object(agent.options).ca : undefined;
    expect(ca).toEqual([...rootCertificates, readFileSync(CA, "utf8")]);
  });

  it("a proxy that refuses is named with the remedy, one that cannot reach the target is worth another try", async () => {
    const refused = await proxyServer({ auth: "Basic x" });
    const url = `https://${HOST}:9/`;
    expect(await reasonOf(send(url, { httpsProxy: refused.url }))).toEqual([
      "proxy",
      expect.stringMatching(/proxy 127\.0\.0\.1:\d+ refused .* 407 .*password/),
    ]);
    const failing = await proxyServer({ refuse: 502 });
    expect((await reasonOf(send(url, { httpsProxy: failing.url })))[0]).toBe("connection");
    const down = [
      "connection",
      expect.stringMatching(/^The proxy 127\.0\.0\.1:1 refused the connection; is the server/),
    ];
    expect(await reasonOf(send(url, { httpsProxy: "http://127.0.0.1:1" }))).toEqual(down);
    expect(await reasonOf(send(`http://${HOST}:9/`, { httpProxy: "http://127.0.0.1:1" }))).toEqual(down);
    const socks = await reasonOf(send(url, { httpsProxy: "socks5://user:secret@127.0.0.1:1" }));
    expect(socks).toEqual(["proxy", expect.not.stringContaining("secret")]);
  });

  it("a CA file that cannot be read is named", async () => {
    const [reason, message] = await reasonOf(send("https://127.0.0.1:9/", { extraCaFiles: ["/no/such.pem"] }));
    expect([reason, message]).toEqual(["certificate", expect.stringContaining("/no/such.pem")]);
  });
});

describe("isLoopback", () => {
  it.each([
    ["http://127.0.0.1:11434/v1", true],
    ["http://127.8.9.10/", true],
    ["http://LOCALHOST/", true],
    ["https://ollama.localhost/", true],
    ["http://[::1]:8080/", true],
    ["http://[::ffff:127.0.0.1]/", true],
    ["http://0.0.0.0:8000/", true],
    ["http://127.0.0.1.example.com/", false],
    ["http://localhost.example.com/", false],
    ["http://notlocalhost/", false],
    ["http://192.168.1.2/", false],
    ["http://128.0.0.1/", false],
  ])("R217 %s: %s", (url, expected) => {
    expect(isLoopback(new URL(url))).toBe(expected);
  });
});

describe("bypassesProxy", () => {
  it.each([
    ["http://a.internal/", ".internal", true],
    ["http://internal/", ".internal", true],
    ["http://a.b.internal/", "internal", true],
    ["http://notinternal/", "internal", false],
    ["http://a.example.com/", "*.example.com", true],
    ["https://host/", "host:443", true],
    ["https://host:8443/", "host:443", false],
    ["http://host:8080/", "host:8080 other", true],
    ["http://10.1.2.3/", "10.0.0.0/8", true],
    ["http://11.1.2.3/", "10.0.0.0/8", false],
    ["http://[fd00::1]/", "fd00::/8", true],
    ["http://[::1]/", "::1", true],
    ["http://[::1]:80/", "[::1]:80", true],
    ["http://127.0.0.1/", "127.0.0.1", true],
    ["http://127.0.0.1/", "0.0.1", false],
    ["http://HOST.Example/", "host.EXAMPLE", true],
    ["http://127.0.0.1/", "127.*", true],
    ["http://127.1.2.3/", "localhost,127.*", true],
    ["http://128.0.0.1/", "127.*", false],
    ["http://10.1.2.3/", "10.*.3", true],
    ["http://10.1.2.4/", "10.*.3", false],
    ["http://10.1.2.3/", "10.1.*:80", true],
    ["http://10.1.2.3:81/", "10.1.*:80", false],
    ["http://a.corp.example/", "*.corp.*", true],
    ["http://gpu-17.lab/", "gpu-*.lab", true],
    ["http://gpu.lab/", "gpu-*.lab", false],
    ["http://aba/", "ab*ba", false],
    ["http://anything/", "*", true],
    ["http://anything/", "", false],
    ["http://anything/", undefined, false],
    ["http://anything/", " , ,", false],
    ["http://10.1.2.3/", "10.0.0.0/99,bad/x", false],
  ])("R154 %s with NO_PROXY=%s: %s", (url, noProxy, expected) => {
    expect(bypassesProxy(new URL(url), noProxy)).toBe(expected);
  });
});

describe("networkFromEnv", () => {
  it("R154 reads both cases, the small one first, and the certificates", () => {
    expect(networkFromEnv({})).toEqual({});
    expect(
      networkFromEnv({
        HTTPS_PROXY: "http://big",
        https_proxy: "http://small",
        NO_PROXY: "a",
        SSL_CERT_FILE: "/x.pem",
        NODE_EXTRA_CA_CERTS: "/x.pem",
      }),
    ).toEqual({ httpsProxy: "http://small", noProxy: "a", extraCaFiles: ["/x.pem"] });
    expect(networkFromEnv({ HTTP_PROXY: "http://p" }).httpProxy).toBe("http://p");
    expect(networkFromEnv({ ALL_PROXY: "http://p" })).toEqual({ httpProxy: "http://p", httpsProxy: "http://p" });
    expect(networkFromEnv({ HTTP_PROXY: "http://evil", REQUEST_METHOD: "GET" })).toEqual({});
  });
});
