import { BlockList, isIP } from "node:net";

/**
 * Whether NO_PROXY exempts a URL. Entries are separated by commas or spaces: `*` is every host; a name exempts itself
 * and the hosts below it, with or without a leading `.` or `*.`; an address exempts itself, a CIDR block its
 * addresses; `*` inside an entry is any run of characters, as in `127.*`; `:port` limits an entry to one port.
 */
export function bypassesProxy(url: URL, noProxy: string | undefined): boolean {
  const host = bare(url.hostname.toLowerCase());
  const port = url.port || (url.protocol === "https:" ? "443" : "80");
  const entries = (noProxy ?? "").toLowerCase().split(/[\s,]+/);
  return entries.some((entry) => entry !== "" && matches(entry, host, port));
}

function matches(entry: string, host: string, port: string): boolean {
  if (entry === "*") return true;
  if (entry.includes("/")) return inBlock(entry, host);
  const { name, port: wanted } = splitPort(entry);
  if (wanted !== undefined && wanted !== port) return false;
  const suffix = name.replace(/^\*?\./, "");
  if (suffix === "" || suffix === "*") return suffix === "*";
  if (suffix.includes("*")) return fitsPattern(host, name);
  if (isIP(host) !== 0) return host === suffix || sameAddress(host, suffix);
  return host === suffix || host.endsWith(`.${suffix}`);
}

/** Whether a host fits a pattern with `*`: its parts in this order, the first at the begin and the last at the end. */
function fitsPattern(host: string, pattern: string): boolean {
  const [first = "", ...others] = pattern.split("*");
  const last = others.pop() ?? "";
  if (host.length < first.length + last.length || !host.startsWith(first) || !host.endsWith(last)) return false;
  let from = first.length;
  for (const part of others) {
    const at = host.indexOf(part, from);
    if (at < 0) return false;
    from = at + part.length;
  }
  return from <= host.length - last.length;
}

function splitPort(entry: string): { name: string; port?: string } {
  if (isIP(entry) === 6) return { name: entry };
  const [, name, port] = /^(.*?)(?::(\d+))?$/.exec(entry) ?? [];
  const plain = bare(name ?? entry);
  return port === undefined ? { name: plain } : { name: plain, port };
}

function inBlock(block: string, host: string): boolean {
  const [network = "", bits = ""] = block.split("/");
  const family = isIP(bare(network));
  const width = Number(bits);
  if (family === 0 || isIP(host) !== family || !/^\d+$/.test(bits) || width > (family === 4 ? 32 : 128)) return false;
  const list = new BlockList();
  list.addSubnet(bare(network), width, family === 4 ? "ipv4" : "ipv6");
  return list.check(host, family === 4 ? "ipv4" : "ipv6");
}

/** Two spellings of one address, e.g. `::1` and `0:0:0:0:0:0:0:1`. */
function sameAddress(host: string, other: string): boolean {
  return isIP(other) === isIP(host) && inBlock(`${other}/${isIP(host) === 4 ? 32 : 128}`, host);
}

function bare(host: string): string {
  return host.replace(/^\[(.*)\]$/, "$1");
}
