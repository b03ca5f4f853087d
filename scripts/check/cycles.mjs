/** Import cycles between files (type-only imports do not count): each as a chain of paths. */
export function checkCycles(sources) {
  const edges = new Map(
    sources.map(({ path, imports }) => [path, imports.filter((i) => !i.typeOnly && !i.lazy).map((i) => i.target)]),
  );
  const state = new Map();
  const problems = [];
  const visit = (path, chain) => {
    if (state.get(path) === "done" || !edges.has(path)) return;
    if (state.get(path) === "open") {
      const cycle = [...chain.slice(chain.indexOf(path)), path];
      problems.push(`import cycle: ${cycle.join(" -> ")}. Move what both need into a file of its own`);
      return;
    }
    state.set(path, "open");
    for (const target of edges.get(path)) visit(target, [...chain, path]);
    state.set(path, "done");
  };
  for (const path of edges.keys()) visit(path, []);
  return problems;
}
