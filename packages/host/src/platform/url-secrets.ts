import { MASK } from "./secret-mask.ts";

const USER_INFO = /^[a-z][a-z0-9+.-]{0,20}:\/\/([^/?#@\s]{1,2000})@/i;
const SECRET_PARAMETER = /key|token|secret|passw|auth|sig/i;

/**
 * Secrets in a URL: the password (without one, the user), and the values of parameters such as `?key=`; each as it is
 * written, and decoded where that differs.
 */
export function urlSecrets(url: string | undefined): string[] {
  if (url === undefined) return [];
  const info = USER_INFO.exec(url)?.[1];
  const password = info?.slice(info.indexOf(":") + 1);
  const query = url.split("#")[0]?.split("?").slice(1).join("?") ?? "";
  const values = query.split("&").flatMap((pair) => {
    const at = pair.indexOf("=");
    return at > 0 && SECRET_PARAMETER.test(pair.slice(0, at)) ? [pair.slice(at + 1)] : [];
  });
  return [...new Set([password, ...values].flatMap((text) => (text ? [text, decoded(text)] : [])))];
}

/** The URL without its secrets, to be shown. */
export function shownUrl(url: string): string {
  return urlSecrets(url).reduce((text, secret) => text.replaceAll(secret, MASK), url);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // A percent sign that stands for itself.
  }
}
