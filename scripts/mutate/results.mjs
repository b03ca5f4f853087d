import { createHash } from "node:crypto";
import { appendFileSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import { dirname } from "node:path";

/** What became of each mutant, kept in a file of JSON lines, so that a run that was stopped can be continued. */
export class Results {
  #known = new Map();

  constructor(path) {
    this.path = path;
    mkdirSync(dirname(path), { recursive: true });
    if (!existsSync(path)) return;
    for (const line of readFileSync(path, "utf8").split("\n").filter(Boolean)) {
      const { key, outcome } = JSON.parse(line);
      this.#known.set(key, outcome);
    }
  }

  get(key) {
    return this.#known.get(key);
  }

  add(key, outcome, mutant) {
    this.#known.set(key, outcome);
    appendFileSync(this.path, `${JSON.stringify({ key, outcome, ...mutant })}\n`);
  }
}

/** The name of a mutant: another one as soon as its file or one of its tests changes. */
export function keyOf({ start, end, to }, texts) {
  const hash = createHash("sha256");
  for (const text of [...texts, `${start} ${end} ${to}`]) hash.update(text).update("\0");
  return hash.digest("base64url").slice(0, 22);
}

/** The score as a table in Markdown: a row a room, by the mutants whose outcome is known. */
export function scoreTable(rows) {
  const rooms = new Map();
  for (const { room, outcome } of rows) {
    const counts = rooms.get(room) ?? { killed: 0, survived: 0 };
    counts[outcome]++;
    rooms.set(room, counts);
  }
  const line = (name, { killed, survived }) =>
    `| ${name} | ${killed + survived} | ${killed} | ${((100 * killed) / (killed + survived || 1)).toFixed(0)} % |`;
  const total = { killed: 0, survived: 0 };
  for (const { killed, survived } of rooms.values()) {
    total.killed += killed;
    total.survived += survived;
  }
  return [
    "| room | mutants | killed | score |",
    "|---|---|---|---|",
    ...[...rooms].sort(([a], [b]) => (a < b ? -1 : 1)).map(([room, counts]) => line(room, counts)),
    line("all", total),
  ].join("\n");
}
