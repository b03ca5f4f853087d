import { join, resolve } from "node:path";

// A folder's name may have 255 bytes on common file systems; long working directories are cut and told apart by a hash.
const MAX_FOLDER_BYTES = 240;
const SESSION_ID = /^[A-Za-z0-9](?:[A-Za-z0-9._-]{0,126}[A-Za-z0-9])?$/;

/**
 * The folder that holds the sessions of a working directory: `--<cwd with / \ : as ->--`, without the leading
 * separator (DESIGN, "Session file").
 */
export function sessionDirectory(sessionsDir: string, cwd: string): string {
  const name = resolve(cwd)
    .replace(/^[/\\]/, "")
    .replace(/[/\\:]/g, "-");
  if (Buffer.byteLength(name) <= MAX_FOLDER_BYTES) return join(sessionsDir, `--${name}--`);
  const head = Buffer.from(name)
    .subarray(0, MAX_FOLDER_BYTES - 20)
    .toString()
    .replace(/\ufffd$/, "");
  return join(sessionsDir, `--${head}-${hash32(name)}--`);
}

/** The file of a session: `<timestamp>_<id>.jsonl`, with the characters that file systems refuse as `-`. */
export function sessionFileName(timestamp: string, id: string): string {
  return `${timestamp.replace(/[:.]/g, "-")}_${id}.jsonl`;
}

/** The id in a session's file name; undefined when the name has another form. */
export function idOfFileName(name: string): string | undefined {
  return /^[^_]*_(.+)\.jsonl$/.exec(name)?.[1];
}

/** Whether `id` can name a session: it becomes part of a file's name, so separators and leading dots are refused. */
export function isSessionId(id: string): boolean {
  return SESSION_ID.test(id);
}

/**
 * A new session id: UUID version 7 (RFC 9562), so that ids sort by time. An id must not repeat, but it is not secret:
 * Math.random will do, and loading the crypto module costs some 3 ms of every start.
 */
export function newSessionId(nowMs: number): string {
  const time = Math.max(0, Math.floor(nowMs)).toString(16).padStart(12, "0").slice(-12);
  const variant = "89ab"[Math.floor(Math.random() * 4)];
  const node = randomHex(6) + randomHex(6);
  return `${time.slice(0, 8)}-${time.slice(8)}-7${randomHex(3)}-${variant}${randomHex(3)}-${node}`;
}

/** A random entry id: 8 hex digits. Unique only after a look at the ids in use. */
export function randomEntryId(): string {
  return randomHex(8);
}

function randomHex(digits: number): string {
  return Math.floor(Math.random() * 16 ** digits)
    .toString(16)
    .padStart(digits, "0");
}

/** FNV-1a over UTF-16 units, as 8 hex digits: tells names apart, no more. */
function hash32(text: string): string {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return (hash >>> 0).toString(16).padStart(8, "0");
}
