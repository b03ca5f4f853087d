import type { IncomingMessage } from "node:http";
import type { Readable } from "node:stream";
import type { NetworkSettings, RequestTimeouts } from "../protocol/request.ts";
import { connectionError } from "./connection-error.ts";
import type { Route } from "./direct-route.ts";
import { type BodyParts, lengthOf, writeParts } from "./request-body.ts";
import { ResponseBody, seconds } from "./response-body.ts";
import { routeTo } from "./route.ts";
import { StreamError } from "./stream-error.ts";

/** One HTTP request. */
export interface HttpRequest {
  url: string;
  /** Default POST with a body, else GET. */
  method?: string;
  headers?: Record<string, string>;
  body?: string | BodyParts;
  signal?: AbortSignal | undefined;
  timeouts?: RequestTimeouts | undefined;
  network?: NetworkSettings | undefined;
}

/** The answer, as soon as its head is there. Header names are in lower case. */
export interface HttpResponse {
  status: number;
  headers: Record<string, string>;
  body: ResponseBody;
}

interface Attempt {
  request: HttpRequest;
  url: URL;
  body: BodyParts | undefined;
  route: Route;
  /** Unix time in milliseconds by which the first byte must be there; 0 for never. */
  deadline: number;
}

const DEFAULT_TIMEOUTS = { connectMs: 30_000, firstByteMs: 300_000, idleMs: 120_000 };
const MAX_REDIRECTS = 3;

/**
 * Sends one request on a kept connection and resolves with the head of its answer, whatever its status. Rejects with a
 * `StreamError`, on an abort at once. A kept connection that the server had closed meanwhile is replaced once. A
 * redirect is followed only to the same server, since the headers carry a key (R030).
 */
export async function sendRequest(request: HttpRequest): Promise<HttpResponse> {
  const firstByteMs = request.timeouts?.firstByteMs ?? DEFAULT_TIMEOUTS.firstByteMs;
  const deadline = firstByteMs > 0 ? Date.now() + firstByteMs : 0;
  const body = bodyOf(request);
  let url = parseUrl(request.url);
  for (let redirects = 0; ; redirects += 1) {
    const route = await routeTo(url, request.network);
    const attempt: Attempt = { request, url, body, route, deadline };
    const response = await attemptTwice(attempt);
    const target = redirectOf(response, url);
    if (!target) return finishHead(response, attempt);
    response.resume();
    if (redirects === MAX_REDIRECTS) throw new StreamError("redirect", `${url.origin} redirects in a circle`);
    url = target;
  }
}

function bodyOf({ body }: HttpRequest): BodyParts | undefined {
  return typeof body === "string" ? [Buffer.from(body)] : body;
}

function parseUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol === "http:" || url?.protocol === "https:") return url;
  throw new StreamError("bad_request", `"${text}" is not an http or https URL; correct the provider's baseUrl`);
}

async function attemptTwice(attempt: Attempt): Promise<IncomingMessage> {
  const first = await tryOnce(attempt);
  if (!("stale" in first)) return first;
  // Other idle connections are as old as this one.
  for (const sockets of Object.values(attempt.route.agent.freeSockets))
    for (const free of sockets ?? []) free.destroy();
  const second = await tryOnce(attempt);
  if ("stale" in second) throw second.stale;
  return second;
}

/** Resolves with the response, or with the error of a kept connection that turned out to be closed. */
function tryOnce({ request, url, body, route, deadline }: Attempt): Promise<IncomingMessage | { stale: StreamError }> {
  return new Promise((resolve, reject) => {
    const { signal } = request;
    if (signal?.aborted) return reject(abortError());
    const sent = startRequest({ request, url, body, route, deadline });
    const stopTimers = startTimers(sent, request, deadline, url.host);
    const abort = () => sent.destroy(abortError());
    signal?.addEventListener("abort", abort, { once: true });
    const settle = () => {
      stopTimers();
      signal?.removeEventListener("abort", abort);
    };
    sent.once("response", (response) => {
      settle();
      resolve(response);
    });
    // Errors after the response are met by the reader of its body; this listener stays so that none is unhandled.
    sent.on("error", (cause: NodeJS.ErrnoException) => {
      settle();
      const error = connectionError(cause, route.proxy ?? url, route.proxy ? "The proxy " : "");
      const stale = sent.reusedSocket && (cause.code === "ECONNRESET" || cause.code === "EPIPE");
      if (stale) resolve({ stale: error });
      else reject(error);
    });
    writeParts(sent, body ?? []);
  });
}

function startRequest({ request, url, body, route }: Attempt) {
  const length = body ? { "content-length": String(lengthOf(body)) } : {};
  try {
    return route.request({
      ...route.options,
      agent: route.agent,
      method: request.method ?? (body ? "POST" : "GET"),
      headers: { host: url.host, ...request.headers, ...length, ...route.options.headers },
      abort: request.signal,
    });
  } catch (error) {
    // Node refuses characters in headers and paths; its text names the header and not its value.
    throw new StreamError("bad_request", error instanceof Error ? error.message : String(error), { cause: error });
  }
}

function startTimers(sent: ReturnType<typeof startRequest>, request: HttpRequest, deadline: number, host: string) {
  const connectMs = request.timeouts?.connectMs ?? DEFAULT_TIMEOUTS.connectMs;
  const fail = (reason: "connect_timeout" | "first_byte_timeout", text: string) => () =>
    sent.destroy(new StreamError(reason, text));
  const connecting =
    connectMs > 0
      ? setTimeout(
          fail("connect_timeout", `${host} did not accept a connection for ${seconds(connectMs)} s`),
          connectMs,
        )
      : undefined;
  sent.once("socket", (socket) => {
    if (!socket.connecting) clearTimeout(connecting);
    else socket.once("encrypted" in socket ? "secureConnect" : "connect", () => clearTimeout(connecting));
  });
  const waitMs = request.timeouts?.firstByteMs ?? DEFAULT_TIMEOUTS.firstByteMs;
  const waiting =
    deadline > 0
      ? setTimeout(fail("first_byte_timeout", `${host} sent no data for ${seconds(waitMs)} s`), deadline - Date.now())
      : undefined;
  return () => {
    clearTimeout(connecting);
    clearTimeout(waiting);
  };
}

/** The URL to follow, when the answer is a redirect to the same server that keeps method and body. */
function redirectOf(response: IncomingMessage, url: URL): URL | undefined {
  const { location } = response.headers;
  const status = response.statusCode ?? 0;
  if (status < 300 || status > 399 || !location) return undefined;
  const target = URL.canParse(location, url.href) ? new URL(location, url) : undefined;
  const upgraded = url.protocol === "http:" && target?.protocol === "https:" && target.hostname === url.hostname;
  if (target && (status === 307 || status === 308) && (target.origin === url.origin || upgraded)) return target;
  response.resume();
  const place = target ? `${target.origin}${target.pathname}` : "another place";
  throw new StreamError(
    "redirect",
    `${url.origin} redirects to ${place}, which was not followed with the key; correct the provider's baseUrl`,
  );
}

async function finishHead(response: IncomingMessage, { request, url, deadline }: Attempt): Promise<HttpResponse> {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(response.headers)) {
    if (value !== undefined) headers[name] = Array.isArray(value) ? value.join(", ") : value;
  }
  const source = await decoded(response, headers["content-encoding"]);
  const body = new ResponseBody(source, {
    firstByteMs: deadline > 0 ? Math.max(1, deadline - Date.now()) : 0,
    idleMs: request.timeouts?.idleMs ?? DEFAULT_TIMEOUTS.idleMs,
    host: url.host,
  });
  const { signal } = request;
  const abort = () => {
    body.destroy(abortError());
    response.destroy();
  };
  if (signal?.aborted) abort();
  signal?.addEventListener("abort", abort, { once: true });
  response.once("close", () => signal?.removeEventListener("abort", abort));
  return { status: response.statusCode ?? 0, headers, body };
}

async function decoded(response: IncomingMessage, encoding: string | undefined): Promise<Readable> {
  const name = encoding?.trim().toLowerCase();
  if (!name || name === "identity") return response;
  const zlib = await import("node:zlib");
  const decoders: Record<string, () => NodeJS.ReadWriteStream & Readable> = {
    gzip: zlib.createGunzip,
    "x-gzip": zlib.createGunzip,
    deflate: zlib.createInflate,
    br: zlib.createBrotliDecompress,
  };
  const create = decoders[name];
  if (!create) throw new StreamError("bad_frame", `The server sent an unknown content encoding: ${name}`);
  const decoder = create();
  const { pipeline } = await import("node:stream");
  // The outcome reaches the reader of the decoder as its own error or end.
  pipeline(response, decoder, () => undefined);
  return decoder;
}

function abortError(): StreamError {
  return new StreamError("aborted", "Request aborted");
}
