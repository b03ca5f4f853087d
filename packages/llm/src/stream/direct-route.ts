import http from "node:http";

/** How a request to a URL leaves this machine. */
export interface Route {
  request: (options: RouteOptions) => http.ClientRequest;
  agent: http.Agent;
  /** The proxy that is connected to in the server's place. */
  proxy?: URL;
  /** What the way adds to or replaces in the request; a proxy wants its own address, path and headers. */
  options: { host: string; port: number; path: string; headers?: Record<string, string> };
}

/** Options of a request, with the signal that a tunnel's connection obeys. */
export interface RouteOptions extends http.RequestOptions {
  abort?: AbortSignal | undefined;
}

// Node's 250 ms for each address fails on slow lines, on which no address answers so soon.
const ADDRESS_ATTEMPT_MS = 1000;

/** Options of every connection pool: connections are kept and the last used one is used first. */
export const AGENT_OPTIONS = {
  keepAlive: true,
  scheduling: "lifo",
  autoSelectFamilyAttemptTimeout: ADDRESS_ATTEMPT_MS,
} as const;

let plainAgent: http.Agent | undefined;
let secureAgent: Promise<{ request: Route["request"]; agent: http.Agent }> | undefined;

/** The way without a proxy and with Node's own certificates. */
export async function directRoute(url: URL): Promise<Route> {
  if (url.protocol === "http:") {
    plainAgent ??= new http.Agent(AGENT_OPTIONS);
    return { request: http.request, agent: plainAgent, options: addressOf(url) };
  }
  secureAgent ??= import("node:https").then(({ Agent, request }) => ({ request, agent: new Agent(AGENT_OPTIONS) }));
  return { ...(await secureAgent), options: addressOf(url) };
}

/** Host, port and path of a URL as `http.request` wants them. */
export function addressOf(url: URL): Route["options"] {
  return {
    // An IPv6 address stands in brackets in a URL and without them everywhere else.
    host: url.hostname.replace(/^\[(.*)\]$/, "$1"),
    port: Number(url.port) || (url.protocol === "https:" ? 443 : 80),
    path: url.pathname + url.search,
  };
}
