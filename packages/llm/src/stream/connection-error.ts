import { StreamError } from "./stream-error.ts";

const TEXTS: Record<string, string> = {
  ECONNREFUSED: "refused the connection; is the server running?",
  ECONNRESET: "closed the connection before it answered",
  EPIPE: "closed the connection before it answered",
  ETIMEDOUT: "could not be reached in time",
  EHOSTUNREACH: "could not be reached",
  ENETUNREACH: "could not be reached: no network",
  ENOTFOUND: "was not found: no such host name",
  EAI_AGAIN: "could not be looked up: name service not available",
  EPROTO: "does not speak the protocol of this URL (http or https?)",
  ERR_SSL_WRONG_VERSION_NUMBER: "does not speak TLS; use an http URL?",
  HPE_INVALID_CONSTANT: "did not answer with HTTP (an https server?)",
};

const CERTIFICATE =
  /^(CERT_|ERR_TLS_CERT|SELF_SIGNED|DEPTH_ZERO|UNABLE_TO_(GET|VERIFY|DECRYPT)|INVALID_CA|HOSTNAME_MISMATCH)/;

/** Whether a code of the system, or of Node's `fetch`, says that there was no connection or that it broke. */
export const isNetworkCode = (code: string): boolean => Object.hasOwn(TEXTS, code) || code.startsWith("UND_ERR_");

/** Whether a code says that a certificate is not trusted. */
export const isCertificateCode = (code: string): boolean => CERTIFICATE.test(code);

/**
 * A failure of the network as one line that names the server, e.g. `127.0.0.1:1234 refused the connection`. `who` goes
 * before its name.
 */
export function connectionError(cause: NodeJS.ErrnoException, url: URL, who = ""): StreamError {
  if (cause instanceof StreamError) return cause;
  // With several addresses Node gives an error without text that holds one for each.
  const inner = cause instanceof AggregateError ? cause.errors.find((error) => error?.code) : undefined;
  const code: string | undefined = cause.code ?? inner?.code;
  const options = code === undefined ? { cause } : { code, cause };
  if (code && isCertificateCode(code)) {
    const remedy = "set NODE_EXTRA_CA_CERTS to the file of the CA that signed it, if you trust it";
    return new StreamError(
      "certificate",
      `The certificate of ${url.host} is not trusted (${code}); ${remedy}`,
      options,
    );
  }
  const text =
    (code && Object.hasOwn(TEXTS, code) && TEXTS[code]) ||
    `failed: ${cause.message || inner?.message || "connection error"}`;
  return new StreamError("connection", `${who}${url.host} ${text}${code ? ` (${code})` : ""}`, options);
}
