import { readErrorBody } from "../../errors/error-body.ts";
import type { ErrorKind } from "../../protocol/errors.ts";
import type { Message } from "../../protocol/message.ts";
import { type Adjustments, fieldPaths } from "./adjustments.ts";

/** A request as it was sent, as far as it can be changed. */
export interface SentRequest {
  /** The fields beside the conversation and the tools, as they were sent. */
  fields: Record<string, unknown>;
  /** The messages of the conversation, as the caller gave them. */
  messages: readonly Message[];
  adjustments: Adjustments;
  /** Fields without which the API takes no request. */
  required: ReadonlySet<string>;
  /** Whether the body has this text in it. */
  holds: (text: string) => boolean;
}

/** What a server says of a request that it did not take, and the request. */
export interface Refusal {
  status: number;
  kind: ErrorKind;
  /** Message and codes on one line, cut. */
  text: string;
  /** Fields of the request that the answer names, the first one first. */
  fields: readonly string[];
  /** Places that the answer names in fields of its own, e.g. `messages.0.content`. */
  places: readonly string[];
  sent: SentRequest;
}

const TEXT_CHARS = 4000;

/** Reads an error answer beside the request that it answers. */
export function readRefusal(
  { status, body }: { status: number; body: string },
  { kind, sent }: { kind: ErrorKind; sent: SentRequest },
): Refusal {
  const { message, codes, places } = readErrorBody(body);
  const text = [...codes, message].join(" ").slice(0, TEXT_CHARS);
  return { status, kind, text, fields: namedFields(text, places, sent.fields), places, sent };
}

/** Not a word of a sentence and so a field wherever it stands. */
const isDistinctive = (name: string) => name.includes("_");

/** Sentences that mean a field without its name. */
const PHRASES: Readonly<Record<string, RegExp>> = {
  include: /encrypted content is not supported/i,
  thinking:
    /(not|n't) support (\w+ )?thinking|thinking (mode |budget )?(is |are )?(not|un)[ -]?(supported|available|enabled)/i,
  reasoning:
    /(not|n't) support (\w+ )?reasoning|reasoning (mode |effort )?(is |are )?(not|un)[ -]?(supported|available|enabled)/i,
  reasoning_effort: /(not|n't) support (\w+ )?(reasoning|thinking)|\beffort\b/i,
  "reasoning.effort": /\beffort\b/i,
  "output_config.effort": /\beffort\b/i,
  temperature: /\btemperature\b/i,
};

function namedFields(text: string, places: readonly string[], fields: Record<string, unknown>): string[] {
  const found = fieldPaths(fields).flatMap((path) => {
    const at = places.some((place) => isAt(place, path)) ? -1 : mention(text, path);
    return at === undefined ? [] : [{ path, at }];
  });
  // At one place `reasoning.effort` means more than `reasoning`.
  return found.sort((a, b) => a.at - b.at || b.path.length - a.path.length).map(({ path }) => path);
}

const isAt = (place: string, path: string) =>
  place === path || place.endsWith(`.${path}`) || (place.startsWith(`${path}.`) && !path.includes("."));

/** Where the text names a field; undefined when it does not. */
function mention(text: string, path: string): number | undefined {
  const at = fieldPattern(path).exec(text)?.index;
  if (at !== undefined) return at;
  const phrase = Object.hasOwn(PHRASES, path) ? PHRASES[path] : undefined;
  return phrase?.exec(text)?.index;
}

function fieldPattern(path: string): RegExp {
  const [name = "", inner] = path.split(".");
  if (inner !== undefined) {
    const last = inner.replace(/y$/, "(?:y|ies)");
    const alone = isDistinctive(inner) ? `|(?<![\\w.])${last}(?!\\w)` : "";
    // regexp: nothing in it repeats.
    return new RegExp(`(?<!\\w)${name}["'\`\\]]?[.\\[ _/]["'\`]?${last}(?!\\w)${alone}`, "i");
  }
  // regexp: nothing in it repeats.
  if (isDistinctive(name)) return new RegExp(`(?<!\\w)${name}(?!\\w)`, "i");
  // regexp: its one run is looked at once for each start of a word. A word of any text: it is a field between quotes, at the begin of the text, and before a dot or a bracket.
  return new RegExp(
    `(?:["'\`\u201c\u2018]|(?<!\\S)(?=\\w+:))${name}(?:["'\`\u201d\u2019:[]|\\.\\w)|(?:field|parameter|argument|property):? ${name}(?!\\w)`,
    "i",
  );
}
