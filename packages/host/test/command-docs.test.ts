import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { bashRows } from "../src/commands/bash.ts";
import { behaviourRows } from "../src/commands/behaviour.ts";
import type { Field } from "../src/commands/fields.ts";
import { lookRows } from "../src/commands/look.ts";
import { modelRows } from "../src/commands/model.ts";
import { protocolRows } from "../src/commands/protocol.ts";
import { sessionRows } from "../src/commands/sessions.ts";
import { COMMANDS } from "../src/commands/table.ts";
import { talkRows } from "../src/commands/talk.ts";
import type { CommandType } from "../src/session/command.ts";

const page = readFileSync(fileURLToPath(new URL("../../../docs/rpc.md", import.meta.url)), "utf8");

/** What of a row is documented. */
interface Described {
  readonly fields: Readonly<Record<string, Field<unknown>>>;
  readonly answer?: string;
  readonly describe: string;
  readonly tauOnly?: true;
}
type Rows = Readonly<Record<string, Described>>;

const SECTIONS: Readonly<Record<string, Rows>> = {
  Talking: talkRows,
  Reading: lookRows,
  Model: modelRows,
  Behaviour: behaviourRows,
  "Commands of the user": bashRows,
  Sessions: sessionRows,
  "Getting to know one another, and permission": protocolRows,
};

const cell = (text: string) => text.replaceAll("|", "\\|");

function fieldText([name, { optional, values }]: [string, Field<unknown>]): string {
  const type = values ? `: ${values.map((value) => JSON.stringify(value)).join(" | ")}` : "";
  return `\`${name}${optional ? "?" : ""}${type}\``;
}

function answerText(answer: string | undefined): string {
  if (answer === undefined) return "";
  return answer.startsWith("{") ? `\`${answer}\`` : answer;
}

/** The table of a section, as docs/rpc.md has it. */
function tableOf(rows: Rows): string {
  const lines = Object.entries(rows).map(([name, { fields, answer, describe: text, tauOnly }]) => {
    const cells = [
      `\`${name}\`${tauOnly ? " (tau)" : ""}`,
      Object.entries(fields).map(fieldText).join(", "),
      answerText(answer),
      text,
    ];
    return `| ${cells.map(cell).join(" | ")} |`;
  });
  return ["| command | fields | data | what it does |", "|---|---|---|---|", ...lines].join("\n");
}

/** The first table behind a heading. */
function tableIn(heading: string): string {
  const section = page.split(`\n### ${heading}\n`)[1] ?? "";
  const lines = section.split("\n");
  const from = lines.findIndex((line) => line.startsWith("| command |"));
  const length = lines.slice(from).findIndex((line) => !line.startsWith("|"));
  return from < 0 ? "" : lines.slice(from, from + length).join("\n");
}

describe("docs/rpc.md", () => {
  it.each(Object.entries(SECTIONS))("has the table of commands as it is in the code: %s", (heading, rows) => {
    expect(tableIn(heading)).toBe(tableOf(rows));
  });

  it("has every command in a section", () => {
    const documented = Object.values(SECTIONS).flatMap((rows) => Object.keys(rows));
    expect(documented.sort()).toEqual(Object.keys(COMMANDS).sort());
  });

  it("each command has one line for people", () => {
    for (const type of Object.keys(COMMANDS)) {
      const row = COMMANDS[type as CommandType];
      expect(row.describe).toMatch(/^[A-Z][^\n]*\.$/);
    }
  });
});
