import { isRecord, parseJson } from "../stream/json.ts";

/** What an error body says, wherever it says it. */
export interface ErrorBody {
  message: string;
  codes: string[];
  /** A status that the body names itself; inside a stream it is the only one. */
  status?: number;
  /** Places of the request that the body names in fields of its own, e.g. `stream_options`, `messages.0.content`. */
  places: string[];
  /** The wait of Google's RetryInfo, e.g. `17s`. */
  retryDelay?: string;
  /** How long a model still loads (Hugging Face). */
  estimatedSeconds?: number;
}

const MAX_DEPTH = 5;
// No text of an error is longer for a good reason; patterns see no more of it.
const TEXT_CHARS = 4000;
// Longer than the part of an error answer that is read at all.
const JSON_CHARS = 65_536;
const START_CHARS = 1000;
const MAX_ITEMS = 3;
const NAME_CHARS = 200;
// Seconds; more is not an estimate.
const MAX_ESTIMATE = 86_400;
const MAX_CODES = 20;
const PLACE_FIELDS = ["param", "loc", "field", "property", "path"];
const CODE_FIELDS = ["code", "type", "status", "__type", "error_code", "errorCode", "reason", "error_type"];
const TEXT_FIELDS = [
  "message",
  "Message",
  "error_message",
  "errorMessage",
  "msg",
  "error_msg",
  "errorMsg",
  "err_msg",
  "errmsg",
  "status_msg",
  "detail",
  "error_description",
];

/**
 * Reads the error bodies of the vendors: `{error: {...}}`, `{error: "text"}`, `{message}`, `{detail: [{msg}]}`,
 * `[{error}]`, a JSON text inside a text (OpenRouter's `metadata.raw`), an HTML page, plain text.
 */
export function readErrorBody(body: string | unknown): ErrorBody {
  const read: ErrorBody = { message: "", codes: [], places: [] };
  const value = typeof body === "string" ? (parseJson(body) ?? body) : body;
  if (typeof value === "string" && looksLikeHtml(value)) read.message = htmlTitle(value);
  else collect(value, read, 0);
  return read;
}

function collect(value: unknown, read: ErrorBody, depth: number): void {
  if (depth > MAX_DEPTH) return;
  if (typeof value === "string") addText(value, read, depth);
  else if (Array.isArray(value)) for (const item of value.slice(0, MAX_ITEMS)) collect(item, read, depth + 1);
  else if (isRecord(value)) collectRecord(value, read, depth);
}

function collectRecord(record: Record<string, unknown>, read: ErrorBody, depth: number): void {
  for (const field of CODE_FIELDS) addCode(record[field], read);
  for (const field of PLACE_FIELDS) addPlace(record[field], read);
  // The inner error says more than its wrapper ("Provider returned error").
  const metadata = isRecord(record.metadata) ? record.metadata : {};
  if (typeof record.retryDelay === "string") read.retryDelay = record.retryDelay;
  const seconds = record.estimated_time;
  if (typeof seconds === "number" && seconds > 0 && seconds <= MAX_ESTIMATE) read.estimatedSeconds = seconds;
  for (const inner of [
    record.error,
    record.details,
    metadata.raw,
    record.innererror,
    record.errors,
    record.base_resp,
  ]) {
    if (inner !== undefined && inner !== null) collect(inner, read, depth + 1);
  }
  for (const field of TEXT_FIELDS) {
    if (record[field] !== undefined && record[field] !== null) collect(record[field], read, depth + 1);
  }
}

function addCode(code: unknown, read: ErrorBody): void {
  if (typeof code !== "string" && typeof code !== "number") return;
  const name = String(code).slice(0, NAME_CHARS);
  const status = Number(name);
  if (Number.isInteger(status) && status >= 400 && status <= 599) read.status ??= status;
  else if (name !== "" && name !== "error" && read.codes.length < MAX_CODES && !read.codes.includes(name))
    read.codes.push(name);
}

/** A place as text with dots, without the word for the whole body. */
function addPlace(place: unknown, read: ErrorBody): void {
  const parts = Array.isArray(place) ? place : [place];
  if (!parts.every((part) => typeof part === "string" || typeof part === "number")) return;
  const name = parts
    .join(".")
    .slice(0, NAME_CHARS)
    .replace(/^body\./, "");
  if (name !== "" && name !== "body" && read.places.length < MAX_ITEMS) read.places.push(name);
}

function addText(text: string, read: ErrorBody, depth: number): void {
  const start = text.trimStart();
  const json = text.length <= JSON_CHARS && (start.startsWith("{") || start.startsWith("["));
  const inner = json ? parseJson(text) : undefined;
  if (inner !== undefined) collect(inner, read, depth + 1);
  else if (looksLikeHtml(text)) addMessage(htmlTitle(text), read);
  else addMessage(text, read);
}

function addMessage(text: string, read: ErrorBody): void {
  const line = oneLine(text.slice(0, TEXT_CHARS));
  if (line === "" || read.message.length >= TEXT_CHARS || read.message.includes(line)) return;
  read.message = read.message === "" ? line : `${read.message}; ${line}`;
}

/** True for a page of a proxy or a web server instead of an answer. */
export function looksLikeHtml(text: string): boolean {
  return /^\s*(<!doctype html|<html|<head|<body)/i.test(text.slice(0, START_CHARS));
}

/** An HTML page as its title, or its first heading (R028). */
function htmlTitle(page: string): string {
  const title = elementText(page, "title") || elementText(page, "h1");
  const text = oneLine(title.replace(/&amp;/g, "&").replace(/&(#\d{1,8}|\w{1,32});/g, " "));
  return text === "" ? "an HTML page instead of an answer" : text;
}

/** The text at the begin of the first element of a name; each sign of the page is looked at once. */
function elementText(page: string, name: string): string {
  // regexp: nothing in it repeats.
  const begin = new RegExp(`<${name}\\b`, "i").exec(page);
  const open = begin ? page.indexOf(">", begin.index) : -1;
  if (open < 0) return "";
  const text = page.slice(open + 1, open + 1 + TEXT_CHARS);
  const end = text.indexOf("<");
  return end < 0 ? text : text.slice(0, end);
}

/** A text on one line: spaces, line ends and control characters become one space. */
export function oneLine(text: string): string {
  return text.replace(/[\s\u0000-\u001f\u007f-\u009f]+/g, " ").trim();
}
