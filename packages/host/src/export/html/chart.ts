import { counted, dollars, percent, tokens } from "../figures.ts";
import type { TurnUsage } from "../ledger.ts";

/** More turns than this share a bar with their neighbours: the chart keeps its size. */
const MAX_BARS = 96;
/** A short session has room to the right, and bars that do not look like blocks. */
const LEAST_BARS = 20;
const WIDTH = 960;
const TOKEN_HEIGHT = 120;
const COST_HEIGHT = 48;

interface Bar extends TurnUsage {
  /** Numbers of the turns in it, from 1. */
  from: number;
  to: number;
}

/** Two small charts over the turns of a session, as inline SVG: tokens by kind, and cost. Empty without any usage. */
export function chartHtml(turns: readonly TurnUsage[]): string {
  if (turns.length === 0) return "";
  const bars = barsOf(turns);
  const mostTokens = Math.max(...bars.map(({ cached, fresh, output }) => cached + fresh + output));
  const mostCost = Math.max(...bars.map(({ cost }) => cost));
  const per = bars.length === turns.length ? "turn" : `${Math.ceil(turns.length / bars.length)} turns`;
  const tokenChart =
    mostTokens === 0
      ? ""
      : `<figure><figcaption><span>Tokens per ${per}</span><span>most ${tokens(mostTokens)}</span></figcaption>` +
        svg({ bars, height: TOKEN_HEIGHT, label: "Tokens per turn", draw: (bar) => tokenBar(bar, mostTokens) }) +
        `<p class="legend"><span class="key cached">cached prompt</span><span class="key fresh">new prompt</span><span class="key out">output</span></p></figure>`;
  const costChart =
    mostCost === 0
      ? ""
      : `<figure><figcaption><span>Cost per ${per}</span><span>most ${dollars(mostCost)}</span></figcaption>` +
        `${svg({ bars, height: COST_HEIGHT, label: "Cost per turn", draw: (bar) => costBar(bar, mostCost) })}</figure>`;
  return tokenChart + costChart;
}

function barsOf(turns: readonly TurnUsage[]): Bar[] {
  const size = Math.ceil(turns.length / MAX_BARS);
  const bars: Bar[] = [];
  for (let at = 0; at < turns.length; at += size) {
    const some = turns.slice(at, at + size);
    const sum = { first: some[0]?.first ?? 0, cached: 0, fresh: 0, output: 0, cost: 0 };
    for (const turn of some) {
      sum.cached += turn.cached;
      sum.fresh += turn.fresh;
      sum.output += turn.output;
      sum.cost += turn.cost;
    }
    bars.push({ ...sum, from: at + 1, to: at + some.length });
  }
  return bars;
}

interface Plot {
  bars: readonly Bar[];
  height: number;
  label: string;
  /** Layers of a bar from the bottom: class and share of the height. */
  draw: (bar: Bar) => readonly (readonly [string, number])[];
}

function svg({ bars, height, label, draw }: Plot): string {
  const step = WIDTH / Math.max(bars.length, LEAST_BARS);
  const width = Math.max(1, step * 0.78);
  const drawn = bars.map((bar, index) => {
    const x = (index * step + (step - width) / 2).toFixed(1);
    let y = height;
    const layers = draw(bar).map(([kind, share]) => {
      const size = share * (height - 2);
      y -= size;
      return `<rect class="${kind}" x="${x}" y="${y.toFixed(1)}" width="${width.toFixed(1)}" height="${size.toFixed(1)}"/>`;
    });
    const target = `<rect class="hit" x="${(index * step).toFixed(1)}" y="0" width="${step.toFixed(1)}" height="${height}"/>`;
    return `<a href="#e${bar.first}"><title>${titleOf(bar)}</title>${target}${layers.join("")}</a>`;
  });
  return (
    `<svg viewBox="0 0 ${WIDTH} ${height}" preserveAspectRatio="none" role="img" aria-label="${label}">` +
    `<line class="ground" x1="0" y1="${height - 0.5}" x2="${WIDTH}" y2="${height - 0.5}"/>${drawn.join("")}</svg>`
  );
}

const tokenBar = ({ cached, fresh, output }: Bar, most: number) =>
  [
    ["cached", cached / most],
    ["fresh", fresh / most],
    ["out", output / most],
  ] as const;

const costBar = ({ cost }: Bar, most: number) => [["cost", cost / most]] as const;

function titleOf({ from, to, cached, fresh, output, cost }: Bar): string {
  const which = from === to ? `Turn ${from}` : `Turns ${from}–${to}`;
  const prompt = cached + fresh;
  const share = prompt === 0 ? "" : `, ${percent(cached / prompt)} cached`;
  return `${which}: ${counted(Math.round(prompt), "prompt token")}${share}, ${counted(Math.round(output), "output token")}, ${dollars(cost)}`;
}
