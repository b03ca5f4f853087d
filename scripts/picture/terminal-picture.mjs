/** Characters in a row; longer lines are wrapped between words. */
const COLUMNS = 96;
/** Sizes in the picture's own units. */
const CELL = { width: 8.4, height: 20, padding: 20, bar: 34 };

/**
 * What a line of a session is, by how it begins; the first row that fits holds. The class is the one of the style below.
 */
const KINDS = [
  { begins: "$ ", kind: "command" },
  { begins: "> ", kind: "prompt" },
  { begins: "  > ", kind: "tool" },
  { begins: "  ! ", kind: "failure" },
  { begins: "The test now: ", kind: "result" },
];

const STYLE = `
  .back { fill: #ffffff; stroke: #d0d7de; } text { fill: #24292f; } .title { fill: #57606a; }
  .command, .prompt { font-weight: bold; } .tool { fill: #0550ae; } .failure { fill: #b31d28; } .result { fill: #116329; }
  .dot { fill: #d0d7de; }
  @media (prefers-color-scheme: dark) {
    .back { fill: #0d1117; stroke: #30363d; } text { fill: #e6edf3; } .title { fill: #8d96a0; }
    .tool { fill: #79c0ff; } .failure { fill: #ff7b72; } .result { fill: #56d364; } .dot { fill: #30363d; }
  }`;

/**
 * The text of a terminal as an SVG picture: text stays text, no font is loaded from elsewhere, and each row has its width
 * in the file, so that any monospaced font fits. It follows the reader's light or dark scheme.
 *
 * @param {string} text what the terminal shows
 * @param {{title: string}} options the title stands in the bar and is the picture's text for screen readers
 */
export function terminalPicture(text, { title }) {
  const rows = text.trimEnd().split("\n").flatMap(wrapped);
  const width = Math.round(COLUMNS * CELL.width + 2 * CELL.padding);
  const height = CELL.bar + rows.length * CELL.height + CELL.padding;
  const lines = rows.map((row, index) => rowMarkup(row, CELL.bar + (index + 0.8) * CELL.height)).filter(Boolean);
  const dots = [0, 1, 2].map((index) => `<circle class="dot" cx="${20 + index * 18}" cy="17" r="5"/>`);
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${escaped(title)}" font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace" font-size="14">
<style>${STYLE}
</style>
<rect class="back" x="0.5" y="0.5" width="${width - 1}" height="${height - 1}" rx="8"/>
${dots.join("")}
<text class="title" x="${width / 2}" y="22" text-anchor="middle">${escaped(title)}</text>
${lines.join("\n")}
</svg>
`;
}

/** Rows of one line, each with the kind of the line. */
function wrapped(line) {
  const kind = KINDS.find(({ begins }) => line.startsWith(begins))?.kind;
  const rows = [];
  let rest = line;
  while (rest.length > COLUMNS) {
    const space = rest.lastIndexOf(" ", COLUMNS);
    const end = space > COLUMNS / 2 ? space : COLUMNS;
    rows.push({ text: rest.slice(0, end), kind });
    rest = rest.slice(end).trimStart();
  }
  return [...rows, { text: rest, kind }];
}

function rowMarkup({ text, kind }, y) {
  const shown = text.trimStart();
  if (shown === "") return "";
  const x = CELL.padding + (text.length - shown.length) * CELL.width;
  const length = (shown.length * CELL.width).toFixed(1);
  const style = kind === undefined ? "" : ` class="${kind}"`;
  const size = `textLength="${length}" lengthAdjust="spacingAndGlyphs"`;
  return `<text${style} x="${x.toFixed(1)}" y="${y}" ${size}>${escaped(shown)}</text>`;
}

function escaped(text) {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}
