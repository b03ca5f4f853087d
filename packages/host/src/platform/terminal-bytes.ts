import { cleanTerminalText } from "./terminal-text.ts";

const CSI_BYTE = 0x9b;

/** Output of a process as clean text: UTF-8, invalid bytes as U+FFFD (R078), without terminal sequences (R135). */
export function decodeTerminalBytes(bytes: Uint8Array): string {
  return cleanTerminalText(decodeWhole(bytes));
}

/** UTF-8 with U+FFFD for what is invalid; a lone 0x9b is kept as the control character that 8-bit terminals see. */
function decodeWhole(bytes: Uint8Array): string {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const text = buffer.toString("utf8");
  if (!buffer.includes(CSI_BYTE) || !text.includes("\ufffd")) return text;
  return splitAtLoneCsi(buffer)
    .map((part) => part.toString("utf8"))
    .join("\x9b");
}

function splitAtLoneCsi(buffer: Buffer): Buffer[] {
  const parts: Buffer[] = [];
  let start = 0;
  for (let at = 0; at < buffer.length; ) {
    if (buffer[at] === CSI_BYTE) {
      parts.push(buffer.subarray(start, at));
      start = at + 1;
    }
    at += Math.max(1, characterLength(buffer, at));
  }
  parts.push(buffer.subarray(start));
  return parts;
}

/** Bytes of the character at `at`; 1 for ASCII and for what is not a valid start or is not continued. */
function characterLength(buffer: Uint8Array, at: number): number {
  const length = announcedLength(buffer[at] ?? 0);
  for (let offset = 1; offset < length; offset++) {
    if (!isContinuation(buffer[at + offset] ?? 0)) return 1;
  }
  return length;
}

function announcedLength(lead: number): number {
  if (lead >= 0xc2 && lead <= 0xdf) return 2;
  if (lead >= 0xe0 && lead <= 0xef) return 3;
  return lead >= 0xf0 && lead <= 0xf4 ? 4 : 1;
}

function isContinuation(byte: number): boolean {
  return (byte & 0xc0) === 0x80;
}

/** The last place at or before `at` where a character starts: a window that ends there cuts no character. */
export function characterEnd(bytes: Uint8Array, at: number): number {
  let end = Math.min(at, bytes.length);
  for (let back = 0; back < 3 && end > 0 && isContinuation(bytes[end] ?? 0); back++) end--;
  return end;
}

/** The first place at or after `at` where a character starts: a window that starts there cuts no character. */
export function characterStart(bytes: Uint8Array, at: number): number {
  let start = Math.max(0, at);
  while (start < bytes.length && start < at + 3 && isContinuation(bytes[start] ?? 0)) start++;
  return start;
}
