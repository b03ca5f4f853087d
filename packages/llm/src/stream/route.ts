import type { NetworkSettings } from "../protocol/request.ts";
import { directRoute, type Route } from "./direct-route.ts";
import { isLoopback } from "./loopback.ts";

/**
 * The way to a URL. TLS is loaded for an https URL only, and the proxy code only when the settings are about such a URL:
 * a request to a local server loads neither, whatever is set for other ones.
 */
export async function routeTo(url: URL, network: NetworkSettings | undefined): Promise<Route> {
  const secure = url.protocol === "https:";
  const proxy = isLoopback(url) ? undefined : secure ? network?.httpsProxy : network?.httpProxy;
  // Certificates matter to plain http only on the way to a proxy.
  if (network && (proxy || (secure && network.extraCaFiles?.length))) {
    const { customRoute } = await import("./proxy.ts");
    return customRoute(url, network);
  }
  return directRoute(url);
}
