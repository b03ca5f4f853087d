/**
 * What can go wrong between the request and the end of its answer, apart from what the server says:
 * - `bad_frame`, `early_end`: the answer came damaged or cut
 * - `connection`, `connect_timeout`, `first_byte_timeout`, `idle_timeout`: the network; `code` is the system's
 * - `redirect`, `bad_request` (a URL or header that cannot be sent), `proxy`, `certificate`: the configuration
 * - `aborted`: the caller's signal
 */
export type StreamErrorReason =
  | "bad_frame"
  | "early_end"
  | "connection"
  | "connect_timeout"
  | "first_byte_timeout"
  | "idle_timeout"
  | "redirect"
  | "bad_request"
  | "proxy"
  | "certificate"
  | "aborted";

/** A failed exchange; `message` is one line for the user. */
export class StreamError extends Error {
  readonly reason: StreamErrorReason;
  /** Code of the operating system or of TLS, e.g. ECONNREFUSED. */
  readonly code: string | undefined;

  constructor(reason: StreamErrorReason, message: string, options: { code?: string; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = "StreamError";
    this.reason = reason;
    this.code = options.code;
  }
}
