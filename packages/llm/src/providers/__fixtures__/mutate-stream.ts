import fc from "fast-check";

type Json = Record<string, unknown>;

/** A change of a stream of frames; `at` and `to` are places that are taken modulo what there is. */
export interface Mutation {
  kind: (typeof KINDS)[number];
  at: number;
  to: number;
  /** Place in the list of nasty values: fast-check cannot show the deep one. */
  value: number;
}

const KINDS = [
  "drop",
  "repeat",
  "swap",
  "cut",
  "lose bytes",
  "glue",
  "line ends",
  "junk line",
  "set",
  "remove",
  "rename",
  "bytes",
  "giant",
  "bare",
  "no data field",
  "event name",
  "twice",
] as const;

const NAMES = ["__proto__", "constructor", "toString", "hasOwnProperty", "type", "index", "choices", "delta", "error"];
const DEEP = JSON.parse(`${'{"a":['.repeat(1500)}1${"]}".repeat(1500)}`) as unknown;

const VALUES: readonly unknown[] = [
  ...NAMES,
  ...[null, true, 0, -1, 1.5, 1e308, 9007199254740993, "", " ", "x", "{}", "null", "[DONE]", "\u0000", "\ud800", "<|x|>"],
  ...[[], {}, [[]], [null], { a: 1 }, { error: "no" }, [{ error: { message: "no" } }], "<tool_call>", '{"a":1}', DEEP],
];

export const mutations = fc.array(
  fc.record({ kind: fc.constantFrom(...KINDS), at: fc.nat(), to: fc.nat(), value: fc.nat(VALUES.length - 1) }),
  { minLength: 1, maxLength: 4 },
);

/** The bytes of a stream after these changes, one after the other. */
export function mutate(body: string, list: readonly Mutation[]): Buffer {
  let bytes: Buffer = Buffer.from(body);
  for (const mutation of list) bytes = CHANGES[mutation.kind](bytes, mutation);
  return bytes;
}

type Change = (bytes: Buffer, mutation: Mutation) => Buffer;

const place = (at: number, length: number) => (length === 0 ? 0 : at % length);

/** A change of the list of frames. */
function frames(change: (list: string[], mutation: Mutation) => void): Change {
  return (bytes, mutation) => {
    const list = bytes.toString("utf8").split("\n\n");
    change(list, mutation);
    return Buffer.from(list.join("\n\n"));
  };
}

/** A change of the value of one frame. */
function value(change: (holder: Json, key: string, mutation: Mutation) => void): Change {
  return frames((list, mutation) => {
    const at = place(mutation.at, list.length);
    const match = /^((?:event: \S+\n)?data: )(\{[^]*)$/.exec(list[at] ?? "");
    const parsed = match?.[2] === undefined ? undefined : parse(match[2]);
    if (!match || typeof parsed !== "object" || parsed === null) return;
    const places = placesOf(parsed);
    const chosen = places[place(mutation.to, places.length)];
    if (chosen) change(chosen.holder, chosen.key, mutation);
    list[at] = match[1] + JSON.stringify(parsed);
  });
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function placesOf(root: object): { holder: Json; key: string }[] {
  const places: { holder: Json; key: string }[] = [];
  const queue: object[] = [root];
  for (let holder = queue.pop(); holder && places.length < 200; holder = queue.pop()) {
    for (const [key, child] of Object.entries(holder)) {
      places.push({ holder: holder as Json, key });
      if (typeof child === "object" && child !== null) queue.push(child);
    }
  }
  return places;
}

const CHANGES: Record<Mutation["kind"], Change> = {
  drop: frames((list, { at }) => list.splice(place(at, list.length), 1)),
  repeat: frames((list, { at }) => {
    const from = place(at, list.length);
    list.splice(from, 0, list[from] ?? "");
  }),
  swap: frames((list, { at, to }) => {
    const [a, b] = [place(at, list.length), place(to, list.length)];
    [list[a], list[b]] = [list[b] ?? "", list[a] ?? ""];
  }),
  cut: (bytes, { at }) => bytes.subarray(0, place(at, bytes.length)),
  "lose bytes": (bytes, { at, to }) => {
    const from = place(at, bytes.length);
    return Buffer.concat([bytes.subarray(0, from), bytes.subarray(from + (to % 40))]);
  },
  glue: frames((list, { at, to }) => {
    const from = place(at, list.length);
    const next = list.splice(from + 1, 1)[0] ?? "";
    list[from] += `${["", "\n", " ", "\n: x\n"][to % 4]}${next}`;
  }),
  "line ends": (bytes, { at }) => Buffer.from(bytes.toString("utf8").replaceAll("\n", ["\r\n", "\r", "\n\r"][at % 3] ?? "")),
  "junk line": frames((list, { at, value: nasty }) => {
    const junk = VALUES[nasty];
    list.splice(place(at, list.length), 0, typeof junk === "string" ? junk : "[info] {");
  }),
  set: value((holder, key, { value: given }) => {
    holder[key] = VALUES[given];
  }),
  remove: value((holder, key) => {
    delete holder[key];
  }),
  rename: value((holder, key, { at }) => {
    const name = NAMES[at % NAMES.length] ?? "";
    Object.defineProperty(holder, name, { value: holder[key], enumerable: true, configurable: true, writable: true });
  }),
  bytes: (bytes, { at, to }) => {
    const copy = Buffer.from(bytes);
    if (copy.length > 0) copy[place(at, copy.length)] = to % 256;
    return copy;
  },
  giant: value((holder, key, { at }) => {
    holder[key] = ["x", "<", "[", '{"a":', "\n", "`", "<tool_call>", "\\"][at % 8]?.repeat(20_000);
  }),
  bare: frames((list, { at, to, value: error }) => {
    list.splice(place(at, list.length), to % 2, JSON.stringify({ error: VALUES[error] }));
  }),
  "no data field": frames((list, { at }) => {
    const from = place(at, list.length);
    list[from] = (list[from] ?? "").replace("data: ", "");
  }),
  "event name": frames((list, { at, to }) => {
    const from = place(at, list.length);
    const name = ["error", "ping", "constructor", "message_stop", "response.completed", ""][to % 6];
    list[from] = `event: ${name}\n${(list[from] ?? "").replace(/^event: \S+\n/, "")}`;
  }),
  twice: (bytes) => Buffer.concat([bytes, bytes]),
};
