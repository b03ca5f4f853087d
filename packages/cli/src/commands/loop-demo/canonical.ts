import { createHash } from "node:crypto";
import type { AgentEvent, AgentMessage } from "@tau/agent";

/** SHA-256 of the demo's transcript: it changes only with the shape of messages, never with the machine or the way in (law D3). */
export const FINGERPRINT = "c8872d2a32d0e60dc6602c87d40d225914e1922cef2d5ef1522cbbc63e63667b";

/** Fields that differ from run to run. */
const VOLATILE = new Set(["timestamp", "durationMs"]);
const SHOWN = new Set(["agent_start", "agent_end", "turn_start", "tool_execution_start", "tool_execution_end"]);

/** Plain JSON with sorted keys and without volatile fields (law D3). A prompt that is one text has two forms: they are one here. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (key, inner: unknown) => {
    if (VOLATILE.has(key)) return undefined;
    if (typeof inner !== "object" || inner === null || Array.isArray(inner)) return inner;
    const plain = isOneText(inner) ? { ...inner, content: inner.content[0].text } : inner;
    return Object.fromEntries(Object.entries(plain).sort(([a], [b]) => (a < b ? -1 : 1)));
  });
}

type OneText = { role: "user"; content: readonly [{ text: string }] };

function isOneText(value: unknown): value is OneText {
  if (typeof value !== "object" || value === null || !("role" in value) || value.role !== "user") return false;
  const [block, more]: unknown[] = "content" in value && Array.isArray(value.content) ? value.content : [];
  return more === undefined && typeof block === "object" && block !== null && "type" in block && block.type === "text";
}

/** SHA-256 of a transcript in canonical form, as hex. */
export function transcriptHash(messages: readonly AgentMessage[]): string {
  return createHash("sha256").update(canonicalJson(messages)).digest("hex");
}

/** The name of an event in the order of law D1; undefined for one that the order leaves out. */
export function orderName(event: AgentEvent): string | undefined {
  if (event.type === "message_end") return `message_end ${event.message.role}`;
  return SHOWN.has(event.type) ? event.type : undefined;
}
