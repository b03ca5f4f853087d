import { readFile } from "node:fs/promises";
import http from "node:http";
import https from "node:https";
import { isIP, Socket } from "node:net";
import type { Duplex } from "node:stream";
import tls from "node:tls";
import type { NetworkSettings } from "../protocol/request.ts";
import { connectionError } from "./connection-error.ts";
import { AGENT_OPTIONS, addressOf, directRoute, type Route, type RouteOptions } from "./direct-route.ts";
import { isLoopback } from "./loopback.ts";
import { bypassesProxy } from "./no-proxy.ts";
import { StreamError } from "./stream-error.ts";

const TUNNEL_MS = 30_000;

/** Connection pools by what they depend on: settings, proxy and scheme. */
const agents = new Map<string, Promise<http.Agent>>();

/**
 * The way to a URL with the proxy and the certificates of the settings (R154): plain http goes to the proxy with the
 * whole URL as path, https through a CONNECT tunnel. Extra certificates are trusted besides the default ones.
 */
export async function customRoute(url: URL, network: NetworkSettings): Promise<Route> {
  const proxy = proxyFor(url, network);
  if (!proxy) return url.protocol === "http:" ? directRoute(url) : trustingRoute(url, network);
  if (url.protocol === "https:") {
    const agent = await pooled(`tunnel ${proxy.href}`, network, (ca) => new TunnelAgent(proxy, ca));
    return { request: https.request, agent, options: addressOf(url) };
  }
  const secure = proxy.protocol === "https:";
  const agent = await pooled(`forward ${proxy.protocol}`, network, (ca) =>
    secure ? new https.Agent({ ...AGENT_OPTIONS, ...ca }) : new http.Agent(AGENT_OPTIONS),
  );
  const path = `${url.origin}${url.pathname}${url.search}`;
  return {
    request: secure ? https.request : http.request,
    agent,
    proxy,
    options: { ...addressOf(proxy), path, headers: credentialsOf(proxy) },
  };
}

/** The proxy that the settings name for a URL, if any; this machine is reached without one (R217). */
function proxyFor(url: URL, network: NetworkSettings): URL | undefined {
  const setting = url.protocol === "https:" ? network.httpsProxy : network.httpProxy;
  const text = setting?.trim();
  if (!text || isLoopback(url) || bypassesProxy(url, network.noProxy)) return undefined;
  const address = /^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `http://${text}`;
  const proxy = URL.canParse(address) ? new URL(address) : undefined;
  if (proxy?.protocol === "http:" || proxy?.protocol === "https:") return proxy;
  const shown = address.replace(/\/\/[^@/]*@/, "//***@");
  throw new StreamError("proxy", `"${shown}" is not an http or https proxy; correct HTTP_PROXY or HTTPS_PROXY`);
}

async function trustingRoute(url: URL, network: NetworkSettings): Promise<Route> {
  if (!network.extraCaFiles?.length) return directRoute(url);
  const agent = await pooled("direct", network, (ca) => new https.Agent({ ...AGENT_OPTIONS, ...ca }));
  return { request: https.request, agent, options: addressOf(url) };
}

function pooled(kind: string, network: NetworkSettings, create: (ca: Trust) => http.Agent): Promise<http.Agent> {
  const files = network.extraCaFiles ?? [];
  const key = JSON.stringify([kind, files]);
  const known = agents.get(key);
  if (known) return known;
  const agent = readTrust(files).then(create);
  agents.set(key, agent);
  // A file that could not be read may be there the next time.
  agent.catch(() => agents.delete(key));
  return agent;
}

type Trust = { ca?: string[] };

async function readTrust(files: readonly string[]): Promise<Trust> {
  if (files.length === 0) return {};
  const read = async (file: string) => {
    try {
      return await readFile(file, "utf8");
    } catch (cause) {
      throw new StreamError("certificate", `The CA file ${file} cannot be read; correct the setting`, { cause });
    }
  };
  return { ca: [...tls.rootCertificates, ...(await Promise.all(files.map(read)))] };
}

function credentialsOf(proxy: URL): Record<string, string> {
  if (proxy.username === "" && proxy.password === "") return {};
  const pair = `${decodeURIComponent(proxy.username)}:${decodeURIComponent(proxy.password)}`;
  return { "proxy-authorization": `Basic ${Buffer.from(pair).toString("base64")}` };
}

type Connected = (error: Error | null, socket: Duplex) => void;

/** Connects through a CONNECT tunnel of a proxy; the pool keeps tunnels as other connections. */
class TunnelAgent extends https.Agent {
  readonly #proxy: URL;
  readonly #trust: Trust;

  constructor(proxy: URL, trust: Trust) {
    super({ ...AGENT_OPTIONS, ...trust });
    this.#proxy = proxy;
    this.#trust = trust;
  }

  // Node's own name for the hook: it takes the socket as a result or by the callback.
  override createConnection(options: RouteOptions, connected: Connected = () => undefined): undefined {
    this.#openTunnel(options).then(
      (socket) => this.#startTls(socket, options, connected),
      // Node's type wants a socket beside the error, which Node does not look at.
      (error) => connected(error, new Socket()),
    );
  }

  #openTunnel(options: RouteOptions): Promise<Socket> {
    const target = `${bracketed(String(options.host))}:${options.port}`;
    const proxy = addressOf(this.#proxy);
    const { request } = this.#proxy.protocol === "https:" ? https : http;
    return new Promise((resolve, reject) => {
      const connect = request({
        host: proxy.host,
        port: proxy.port,
        method: "CONNECT",
        path: target,
        headers: { host: target, ...credentialsOf(this.#proxy) },
        agent: false,
        timeout: TUNNEL_MS,
        ...this.#trust,
      });
      const abort = () => connect.destroy(new StreamError("aborted", "Request aborted"));
      options.abort?.addEventListener("abort", abort, { once: true });
      connect.once("close", () => options.abort?.removeEventListener("abort", abort));
      connect.once("timeout", () => connect.destroy(this.#failure("did not answer", "connection")));
      connect.once("error", (cause) => reject(connectionError(cause, this.#proxy, "The proxy ")));
      connect.once("connect", (response, socket) => {
        if (response.statusCode === 200) return resolve(socket);
        socket.destroy();
        reject(this.#refusal(target, response.statusCode ?? 0, response.statusMessage ?? ""));
      });
      connect.end();
    });
  }

  #startTls(socket: Socket, options: RouteOptions, connected: Connected): void {
    const host = String(options.host);
    const servername = servernameOf(host);
    const secure = tls.connect({
      ...this.#trust,
      socket,
      host,
      ...(servername ? { servername } : {}),
    });
    const fail = (error: Error) => connected(error, secure);
    secure.once("error", fail);
    secure.once("secureConnect", () => {
      secure.removeListener("error", fail);
      connected(null, secure);
    });
  }

  #refusal(target: string, status: number, text: string): StreamError {
    // A proxy that cannot reach the target now may do so later; one that refuses it will not.
    const reason = status >= 500 ? "connection" : "proxy";
    const remedy = status === 407 ? "; put user and password into the proxy URL" : "";
    return this.#failure(`refused a connection to ${target}: ${status} ${text}`.trim() + remedy, reason);
  }

  #failure(text: string, reason: "connection" | "proxy", cause?: unknown): StreamError {
    return new StreamError(reason, `The proxy ${this.#proxy.host} ${text}`, { cause });
  }
}

function bracketed(host: string): string {
  return host.includes(":") ? `[${host}]` : host;
}

/** The name for the TLS handshake; an address is none (RFC 6066). */
function servernameOf(host: string): string | undefined {
  return isIP(host) === 0 ? host : undefined;
}
