import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const PAGES = ["docs/laws.md", "docs/reports.md"];
const FOLDERS = ["packages", "docs", "scripts", "examples", "bench"];
const SKIPPED = /(^|\/)(node_modules|dist|__fixtures__|sample)(\/|$)/;
const ID = /\b(R\d{3}|[BCDEFGLOPQRSTX]\d{1,2})\b/g;
/** Where code cites: a comment, or a string that starts with ids, as the title of a test does. */
const COMMENT = /(?:^|\s)(?:\/\/|\/\*|\*\s)(.*)$/;
const TITLE = /["'`]((?:(?:R\d{3}|[BCDEFGLOPQRSTX]\d{1,2})\s)+)/g;

/** Laws and reports that are cited and stand on neither page. */
export function checkCitations(root = process.cwd()) {
  return citationProblems(readCited(root), readKnown(root));
}

/** The same for texts that were read already: `files` holds `{ path, text }`, `known` the ids of the pages. */
export function citationProblems(files, known) {
  return files.flatMap(({ path, text }) =>
    text.split("\n").flatMap((line, index) =>
      idsIn(path, line)
        .filter((id) => !known.has(id))
        .map(
          (id) => `${path}:${index + 1}: cites ${id}, which is in neither ${PAGES.join(" nor ")}; add its row there`,
        ),
    ),
  );
}

/** The ids that the pages list and no test starts with, in the order of the pages. */
export function uncovered(root = process.cwd()) {
  const tested = new Set(
    readCited(root)
      .filter(({ path }) => /\.test\.\w+$/.test(path))
      .flatMap(({ text }) => titleIds(text)),
  );
  return [...readKnown(root)].filter((id) => !tested.has(id));
}

const readKnown = (root) =>
  new Set(
    PAGES.flatMap((page) =>
      [...readFileSync(join(root, page), "utf8").matchAll(/^\| ([A-Z]\d+) \|/gm)].map(([, id]) => id),
    ),
  );

const readCited = (root) =>
  FOLDERS.flatMap((folder) => readdirSync(join(root, folder), { recursive: true }).map((name) => join(folder, name)))
    .filter((path) => /\.(ts|mjs|md)$/.test(path) && !SKIPPED.test(path))
    .map((path) => ({ path, text: readFileSync(join(root, path), "utf8") }));

function idsIn(path, line) {
  if (path.endsWith(".md")) return line.match(ID) ?? [];
  return [...(COMMENT.exec(line)?.[1].match(ID) ?? []), ...titleIds(line)];
}

const titleIds = (text) => [...text.matchAll(TITLE)].flatMap(([, ids]) => ids.trim().split(/\s/));
