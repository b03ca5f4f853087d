import { cleanTerminalText } from "@tau/host/program";

/** Embeddings, overrides and isolates of UAX #9: one that is left open turns the text after it around. */
const DIRECTION = /[\u202a-\u202e\u2066-\u2069]/g;

/** A return inside a line, and backspaces: after them a terminal draws over what it shows. */
const OVERWRITES = /\r(?!\n)|\x08/g;

/**
 * A text without anything that a terminal would act on or show in another order than it is in (R135). What stands
 * before a return or a backspace stays: a name or a command could hide its beginning else.
 */
export function terminalText(text: string): string {
  return cleanTerminalText(text.replace(OVERWRITES, " "), { carriageReturn: "drop" }).replace(DIRECTION, "");
}
