import type { NetworkSettings } from "../protocol/request.ts";

/**
 * Network settings from environment variables, which the caller hands in: HTTP_PROXY, HTTPS_PROXY, ALL_PROXY and
 * NO_PROXY in both cases (the small one wins), SSL_CERT_FILE and NODE_EXTRA_CA_CERTS as extra certificates. HTTP_PROXY
 * in capitals is not believed in a CGI program, where a client can set it (httpoxy).
 */
export function networkFromEnv(env: Readonly<Record<string, string | undefined>>): NetworkSettings {
  const either = (name: string) => env[name.toLowerCase()] || env[name] || undefined;
  const all = either("ALL_PROXY");
  const httpProxy = (env.REQUEST_METHOD === undefined ? either("HTTP_PROXY") : env.http_proxy) ?? all;
  const httpsProxy = either("HTTPS_PROXY") ?? all;
  const noProxy = either("NO_PROXY");
  const files = [env.SSL_CERT_FILE, env.NODE_EXTRA_CA_CERTS].flatMap((file) => file || []);
  const network: NetworkSettings = {};
  if (httpProxy) network.httpProxy = httpProxy;
  if (httpsProxy) network.httpsProxy = httpsProxy;
  if (noProxy) network.noProxy = noProxy;
  if (files.length > 0) network.extraCaFiles = [...new Set(files)];
  return network;
}
