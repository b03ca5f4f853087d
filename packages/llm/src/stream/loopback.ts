/**
 * Whether a URL names this machine: `localhost` and the names below it, 127.0.0.0/8, `::1`, and the addresses that stand
 * for none. A proxy would look for such a server on a machine of its own.
 */
export function isLoopback({ hostname }: URL): boolean {
  const host = hostname.toLowerCase();
  if (host === "localhost" || host.endsWith(".localhost") || host === "0.0.0.0") return true;
  // A URL writes an IPv4 address inside of an IPv6 one in hexadecimal.
  return /^127\.\d+\.\d+\.\d+$/.test(host) || ["[::1]", "[::]"].includes(host) || host.startsWith("[::ffff:7f");
}
