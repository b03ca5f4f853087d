import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { readDoors, readRooms } from "./rooms.mjs";

/** Imports that go against the table of ARCHITECTURE.md, files that are in no room, and rooms without files. */
export function checkLayers(sources, root = process.cwd()) {
  const doors = readDoors(root, readdirSync(join(root, "packages")));
  const { rooms, problems } = readRooms(readFileSync(join(root, "ARCHITECTURE.md"), "utf8"), doors);
  return [...problems, ...layerProblems(sources, rooms, new Set(Object.values(doors)))];
}

/** The same for a table that was read already. `doors` are the files that make up the packages' public names. */
export function layerProblems(sources, rooms, doors) {
  const problems = rooms
    .filter(({ prefix }) => !sources.some(({ path }) => path.startsWith(prefix)))
    .map(({ name }) => `ARCHITECTURE.md: room ${name} has no files; take its row out`);
  for (const { path, imports, lineOf } of sources) {
    if (doors.has(path)) continue;
    const room = roomOf(path, rooms);
    if (!room) problems.push(`${path}: is in no room; put it into one, or add a row to the table of ARCHITECTURE.md`);
    for (const found of room ? imports : []) {
      if (isAllowed(found, room)) continue;
      problems.push(layerMessage({ path, room, found, line: lineOf(found.node) }));
    }
  }
  return problems;
}

/** A file belongs to the room with the longest folder that fits. */
const roomOf = (path, rooms) =>
  rooms.filter(({ prefix }) => path.startsWith(prefix)).sort((a, b) => b.prefix.length - a.prefix.length)[0];

function isAllowed({ target, typeOnly }, room) {
  if (!target.startsWith("packages/") || target.startsWith(room.prefix)) return true;
  return room.allows.some((rule) => (typeOnly || !rule.typesOnly) && target.startsWith(rule.target));
}

function layerMessage({ path, room, found, line }) {
  const may = room.allows.map(({ target, typesOnly }) => (typesOnly ? `types of ${target}` : target)).join(", ");
  return `${path}:${line}: ${room.name} must not import ${found.target}; ARCHITECTURE.md allows ${may || "nothing of ours"}. Move the code to the room that may, or pass the value in`;
}
