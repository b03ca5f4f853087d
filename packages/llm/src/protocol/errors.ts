/** What kind of failure ended a request; the supervisor decides by it, never by the text. */
export type ErrorKind =
  | "retryable"
  | "overflow"
  | "auth"
  | "quota"
  | "invalid_request"
  | "content_filter"
  | "aborted"
  | "unknown";
