import { cleanTerminalText } from "@tau/host/program";

/** Embeddings, overrides and isolates of UAX #9: one that is left open turns the text after it around. */
const DIRECTION = /[\u202a-\u202e\u2066-\u2069]/g;

/** A text without anything that a terminal would act on or show in another order than it is in (R135). */
export function terminalText(text: string): string {
  return cleanTerminalText(text).replace(DIRECTION, "");
}
