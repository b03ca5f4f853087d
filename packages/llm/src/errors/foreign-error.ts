import type { Failure } from "../stream/assembler.ts";
import { isCertificateCode, isNetworkCode } from "../stream/connection-error.ts";
import { isRecord } from "../stream/json.ts";
import { StreamError } from "../stream/stream-error.ts";
import { classifyEvent, classifyResponse, classifyThrown, type ErrorOrigin } from "./classify.ts";

/** What `fetch` throws in Node and in browsers when there is no connection, or when it breaks. */
const NO_CONNECTION = /^(fetch failed|failed to fetch|load failed|networkerror|terminated)\b/i;

/** An error has few causes; a chain may also be a ring. */
const MOST_CAUSES = 5;

/**
 * The failure that an error of somebody else's code is: of `fetch`, of the network, or of a vendor's SDK, which has the
 * status of the answer with it. By the same table as an answer of a provider of ours.
 */
export function classifyForeign(error: unknown, origin: ErrorOrigin): Failure {
  if (error instanceof StreamError) return classifyThrown(error, origin);
  const chain = causesOf(error);
  const answer = chain.map((one) => answerOf(one)).find((found) => found !== undefined);
  if (answer) return classifyResponse(answer, origin);
  const message = [...new Set(chain.map(textOf))].filter((text) => text !== "").join(": ");
  const codes = chain.flatMap(({ code }) => (typeof code === "string" ? [code] : []));
  const failure = classifyEvent({ message: message || String(error), code: codes.at(-1) }, origin);
  if (codes.some(isCertificateCode)) return { ...failure, kind: "invalid_request" };
  const isNetwork = codes.some(isNetworkCode) || chain.some((one) => NO_CONNECTION.test(textOf(one)));
  return isNetwork ? { ...failure, kind: "retryable" } : failure;
}

type Fields = Record<string, unknown>;

/** An error and what caused it, outermost first. */
function causesOf(error: unknown): Fields[] {
  const chain: Fields[] = [];
  for (let at = error; isRecord(at) && chain.length < MOST_CAUSES && !chain.includes(at); at = at.cause) chain.push(at);
  return chain;
}

const textOf = ({ message }: Fields): string => (typeof message === "string" ? message : "");

/** SDKs put status, headers and body of the answer into their errors. */
function answerOf(error: Fields) {
  const status = [error.status, error.statusCode].find((value) => Number.isInteger(value) && Number(value) >= 300);
  if (status === undefined) return undefined;
  const body = [error.responseBody, error.body, error.error].find(
    (value) => typeof value === "string" || isRecord(value),
  );
  const text = typeof body === "string" ? body : JSON.stringify(body ?? { message: textOf(error) });
  return { status: Number(status), headers: headersOf(error.headers ?? error.responseHeaders), body: text };
}

function headersOf(given: unknown): Record<string, string> {
  const entries = given instanceof Headers ? [...given] : isRecord(given) ? Object.entries(given) : [];
  return Object.fromEntries(entries.map(([name, value]) => [name.toLowerCase(), String(value)]));
}
