import { readFileSync } from "node:fs";
import { join } from "node:path";

const SECTION = "## Rooms";

/**
 * The table of rooms in ARCHITECTURE.md: it is the only place that says which room may import what.
 * Out: `{ rooms, problems }`. A room is `{ name, prefix, allows }`; `allows` holds `{ target, typesOnly }`, where the
 * target is a door of a package (a file) or the folder of a room of the same package.
 */
export function readRooms(markdown, doors) {
  const rows = tableRows(markdown);
  const problems = rows.length === 0 ? [`ARCHITECTURE.md: no table under "${SECTION}"; the check reads it`] : [];
  const hasInnerRooms = (name) => rows.some((row) => row.name.startsWith(`${name.replace("packages/", "")}/src/`));
  const rooms = rows
    .filter(({ name }) => !(name.startsWith("packages/") && hasInnerRooms(name)))
    .map(({ name, may }) => {
      const { allows, unknown } = readCell({ name, may, rows, doors });
      for (const word of unknown)
        problems.push(
          `ARCHITECTURE.md: room ${name} may import "${word}", which is neither a package, a door nor a room of its package`,
        );
      return { name, prefix: prefixOf(name), allows };
    });
  return { rooms, problems };
}

/** The public doors of the packages, by name: `{ "llm": "packages/llm/src/index.ts", "llm/testing": … }`. */
export function readDoors(root, packages) {
  const doors = {};
  for (const name of packages) {
    const manifest = JSON.parse(readFileSync(join(root, "packages", name, "package.json"), "utf8"));
    for (const [path, conditions] of Object.entries(manifest.exports ?? {})) {
      const source = conditions["tau-source"];
      if (source) doors[join(name, path)] = join("packages", name, source);
    }
  }
  return doors;
}

/** The rows of the table as `{ name, may }`: the first words in code marks, and the words of the last column. */
function tableRows(markdown) {
  const section = markdown.split(`\n${SECTION}\n`)[1]?.split("\n## ")[0] ?? "";
  return section
    .split("\n")
    .filter((line) => line.startsWith("| `"))
    .map((line) => {
      const cells = line.split("|").map((cell) => cell.trim());
      const name = /`([^`]+)`/.exec(cells[1])[1].replace(/\/(<[^>]+>\/)?$/, "");
      return { name, may: cells[3].replaceAll("`", "") };
    });
}

const prefixOf = (name) => (name.startsWith("packages/") ? `${name}/src/` : `packages/${name}/`);

function readCell({ name, may, rows, doors }) {
  const allows = [];
  const unknown = [];
  const ownRooms = name.startsWith("packages/") ? "" : name.slice(0, name.lastIndexOf("/src/") + "/src/".length);
  for (const item of may.split(",").map((word) => word.trim())) {
    const typesOnly = item.startsWith("types of ");
    const word = typesOnly ? item.slice("types of ".length) : item;
    if (word === "–" || word === "nothing of ours") continue;
    if (rows.some((row) => row.name === ownRooms + word)) allows.push({ target: prefixOf(ownRooms + word), typesOnly });
    else if (doors[word]) allows.push(...doorsOf(word, doors).map((target) => ({ target, typesOnly })));
    else unknown.push(word);
  }
  return { allows, unknown };
}

/** A package by its bare name stands for all of its doors, except the one for tests, which is asked for by name. */
const doorsOf = (word, doors) =>
  word.includes("/")
    ? [doors[word]]
    : Object.keys(doors)
        .filter((name) => name === word || (name.startsWith(`${word}/`) && !name.endsWith("/testing")))
        .map((name) => doors[name]);
