/**
 * Files that are still in a circle of type-only imports, counted by room. The numbers may only shrink. A circle of
 * imports that run is never allowed.
 */
const KNOWN = [];

/** Import cycles between files, by imports of every kind: values, types, and lazy ones. */
export function checkCycles(sources, known = KNOWN) {
  const running = circles(sources, (found) => !found.typeOnly && !found.lazy);
  const all = circles(sources, () => true);
  const problems = running.map((cycle) => cycleMessage(cycle));
  const runs = new Set(running.flat());
  const ofTypes = all.filter((cycle) => !cycle.some((path) => runs.has(path)));
  for (const { room, files } of known) {
    const found = ofTypes.flat().filter((path) => path.startsWith(room)).length;
    if (found < files)
      problems.push(
        `scripts/check/cycles.mjs: ${room} has ${found} files in circles, the list says ${files}; write ${found}, or remove the row at 0`,
      );
  }
  const isKnown = (cycle) =>
    known.some((row) => cycle.every((path) => path.startsWith(row.room)) && fits(row, ofTypes));
  return [...problems, ...ofTypes.filter((cycle) => !isKnown(cycle)).map((cycle) => cycleMessage(cycle))];
}

const fits = ({ room, files }, cycles) => cycles.flat().filter((path) => path.startsWith(room)).length <= files;

const cycleMessage = (cycle) =>
  `import cycle: ${cycle.join(", ")} import each other in a circle. Move what they share into a file of its own`;

/** Groups of files that reach each other (strongly connected, by Tarjan's algorithm), each sorted by path. */
function circles(sources, counts) {
  const targets = new Map(
    sources.map(({ path, imports }) => [path, imports.filter(counts).map(({ target }) => target)]),
  );
  const search = { targets, order: new Map(), low: new Map(), open: [], groups: [] };
  for (const path of targets.keys()) if (!search.order.has(path)) visit(path, search);
  return search.groups.filter((group) => group.length > 1 || targets.get(group[0]).includes(group[0]));
}

function visit(path, search) {
  const { targets, order, low, open, groups } = search;
  low.set(path, order.size);
  order.set(path, order.size);
  open.push(path);
  for (const target of targets.get(path)) {
    if (!targets.has(target)) continue;
    if (!order.has(target)) visit(target, search);
    if (open.includes(target)) low.set(path, Math.min(low.get(path), low.get(target)));
  }
  if (low.get(path) === order.get(path)) groups.push(open.splice(open.indexOf(path)).sort());
}
