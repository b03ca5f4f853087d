import { median } from "./process.mjs";

const gap = (log, from, to) => {
  const gaps = log.slice(1).map((entry, i) => entry.arrived - log[i].ended);
  return median(gaps.slice(from, to));
};
const firstRequest = ({ started, log }) => log[0].arrived - started;
const wall = ({ wallMs }) => wallMs;
const rss = ({ rssMb }) => rssMb;

/**
 * One row a scenario: the plan for the model server, how often, how long a history both clients begin with, and its
 * figures `{ name, unit, of(run), limit? (ratio to the floor), cap? (absolute), growth? }`.
 */
export const SCENARIOS = [
  { name: "version", version: true, repeats: 9, figures: [{ name: "--version", unit: "ms", of: wall, limit: 1.3 }] },
  {
    name: "answer",
    plan: {},
    repeats: 9,
    figures: [
      { name: "spawn to first request", unit: "ms", of: firstRequest, limit: 2 },
      { name: "one answer, wall", unit: "ms", of: wall },
      { name: "one answer, peak RSS", unit: "MB", of: rss, cap: 70 },
      { name: "first request, system and tools", unit: "tokens", of: ({ log }) => log[0].bytes / 4, cap: 1200 },
    ],
  },
  {
    name: "turns200",
    plan: { turns: 200 },
    repeats: 3,
    figures: [
      { name: "200 bash turns, wall", unit: "ms", of: wall, limit: 1.35 },
      {
        name: "200 bash turns, gap of turns 180-200 over 1-20",
        unit: "x",
        of: ({ log }) => gap(log, 179, 200) / gap(log, 0, 20),
        cap: 1.1,
      },
      { name: "200 bash turns, peak RSS", unit: "MB", of: rss, cap: 85 },
    ],
  },
  {
    name: "deltas50k",
    plan: { deltas: 50_000 },
    repeats: 3,
    figures: [{ name: "50,000 deltas, wall", unit: "ms", of: wall, limit: 2.5 }],
  },
  ...[1, 2].map((megabytes) => ({
    name: `arguments${megabytes}m`,
    plan: { turns: 1, argumentBytes: megabytes * 1_000_000 },
    repeats: 3,
    figures: [{ name: `${megabytes} MB of arguments in 4-byte deltas, wall`, unit: "ms", of: wall, limit: 2.5 }],
  })),
  {
    name: "resume20k",
    plan: {},
    messages: 20_000,
    repeats: 5,
    figures: [
      { name: "20,000 messages resumed, to first request", unit: "ms", of: firstRequest, cap: 500 },
      { name: "20,000 messages resumed, peak RSS", unit: "MB", of: rss, cap: 130 },
    ],
  },
  ...[10_000, 100_000].map((messages) => ({
    name: `context${messages / 1000}k`,
    plan: { turns: 10 },
    messages,
    repeats: 3,
    figures: [
      { name: `${messages} messages in context, to first request`, unit: "ms", of: firstRequest },
      { name: `${messages} messages in context, gap of a turn`, unit: "ms", of: ({ log }) => gap(log, 1, 10) },
      { name: `${messages} messages in context, peak RSS`, unit: "MB", of: rss },
    ],
  })),
];

/** Figures made of two others of tau: `[name, numerator, denominator, cap]`. */
export const GROWTH = [
  [
    "arguments: 2 MB over 1 MB",
    "2 MB of arguments in 4-byte deltas, wall",
    "1 MB of arguments in 4-byte deltas, wall",
    2.3,
  ],
];
