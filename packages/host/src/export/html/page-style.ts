/** The page's style. Its hash is in the page's policy: no other style, and no style attribute, has an effect. */
export const PAGE_STYLE = `
:root {
  --paper: #fbfaf8; --card: #ffffff; --ink: #22201d; --soft: #6d675f; --line: #e4dfd7; --sunk: #f3f0ea;
  --accent: #a6461f; --user: #f6ece4; --user-line: #d9a583; --link: #9a3e18;
  --add: #1c6b3a; --add-bg: #e5f4ea; --del: #a32b2b; --del-bg: #fbe8e6; --hunk: #6a5acd;
  --bad: #a32b2b; --bad-bg: #fbe8e6; --warn-bg: #fff3d6; --warn: #6b4b00; --label: #efe3ff; --label-ink: #5b3a9b;
  --cached: #cdbfae; --fresh: #c98a5e; --out: #a6461f; --cost: #6f8f6a;
  color-scheme: light;
}
@media (prefers-color-scheme: dark) {
  :root:not([data-theme="light"]) {
    --paper: #171614; --card: #1f1d1b; --ink: #e9e4dc; --soft: #a29a8f; --line: #37332e; --sunk: #262320;
    --accent: #e58a5c; --user: #2b231d; --user-line: #8a5b3c; --link: #eda27c;
    --add: #8fd6a4; --add-bg: #18301f; --del: #f0a29b; --del-bg: #3a1e1c; --hunk: #a99cf0;
    --bad: #f0a29b; --bad-bg: #3a1e1c; --warn-bg: #3a2f12; --warn: #f0d58a; --label: #372a52; --label-ink: #cdb8f7;
    --cached: #5a5148; --fresh: #a4714d; --out: #e58a5c; --cost: #86a881;
    color-scheme: dark;
  }
}
:root[data-theme="dark"] {
  --paper: #171614; --card: #1f1d1b; --ink: #e9e4dc; --soft: #a29a8f; --line: #37332e; --sunk: #262320;
  --accent: #e58a5c; --user: #2b231d; --user-line: #8a5b3c; --link: #eda27c;
  --add: #8fd6a4; --add-bg: #18301f; --del: #f0a29b; --del-bg: #3a1e1c; --hunk: #a99cf0;
  --bad: #f0a29b; --bad-bg: #3a1e1c; --warn-bg: #3a2f12; --warn: #f0d58a; --label: #372a52; --label-ink: #cdb8f7;
  --cached: #5a5148; --fresh: #a4714d; --out: #e58a5c; --cost: #86a881;
  color-scheme: dark;
}
*, ::before, ::after { box-sizing: border-box; }
[hidden] { display: none !important; }
html { -webkit-text-size-adjust: 100%; scroll-padding-top: 4.5rem; }
body {
  margin: 0; background: var(--paper); color: var(--ink); overflow-wrap: anywhere;
  font: 16px/1.6 ui-sans-serif, system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", sans-serif;
}
h1, h2, h3, h4, h5, h6, p, dl, dd, ul, ol, figure, pre { margin: 0; }
a { color: var(--link); }
code, pre, .tool { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; }
button { font: inherit; color: inherit; cursor: pointer; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }

.top {
  position: sticky; top: 0; z-index: 2; display: flex; gap: 1rem; align-items: center; justify-content: space-between;
  padding: .6rem clamp(.9rem, 3vw, 2rem); background: var(--paper); border-bottom: 1px solid var(--line);
}
.top .name { min-width: 0; }
h1 { font-size: 1.05rem; line-height: 1.35; white-space: nowrap; overflow: hidden; text-overflow: ellipsis; }
.where { display: flex; gap: .75rem; font-size: .8rem; color: var(--soft); white-space: nowrap; overflow: hidden; }
.where span { overflow: hidden; text-overflow: ellipsis; }
.switches { display: flex; gap: .4rem; flex: none; }
.switches button {
  padding: .25rem .7rem; min-height: 2.25rem; border: 1px solid var(--line); border-radius: 999px; background: var(--card);
  font-size: .85rem;
}
.switches button[aria-pressed="true"] { background: var(--accent); border-color: var(--accent); color: var(--paper); }
.warning { padding: .6rem clamp(.9rem, 3vw, 2rem); background: var(--warn-bg); color: var(--warn); font-size: .9rem; }

.page { display: grid; grid-template-columns: minmax(0, 1fr); gap: 1.5rem; max-width: 78rem; margin: 0 auto; padding: 1.2rem clamp(.9rem, 3vw, 2rem) 5rem; }
main { min-width: 0; }
aside { display: grid; grid-template-columns: minmax(0, 1fr); gap: .8rem; align-content: start; min-width: 0; }
@media (min-width: 64rem) {
  .page { grid-template-columns: minmax(0, 1fr) 20rem; gap: 2.5rem; }
  aside { order: 2; position: sticky; top: 4.6rem; max-height: calc(100vh - 5.5rem); overflow-y: auto; scrollbar-width: thin; }
}
.card { background: var(--card); border: 1px solid var(--line); border-radius: 12px; padding: .9rem 1rem; }
h2 { display: inline; flex: none; font-size: .78rem; letter-spacing: .06em; text-transform: uppercase; color: var(--soft); font-weight: 600; }
.card > summary { display: flex; align-items: baseline; gap: .6rem; list-style: none; cursor: pointer; min-width: 0; }
.card > summary::-webkit-details-marker { display: none; }
.card > summary::after { content: "▾"; margin-left: auto; color: var(--soft); font-size: .8em; }
.card:not([open]) > summary::after { content: "▸"; }
.card[open] .brief { display: none; }
.brief { min-width: 0; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; font-size: .82rem; color: var(--soft); }
.figures { display: grid; grid-template-columns: repeat(3, 1fr); gap: .7rem .5rem; margin: .6rem 0 .9rem; }
.figures div { display: flex; flex-direction: column; min-width: 0; }
.figures dd { font-size: 1.15rem; font-weight: 600; font-variant-numeric: tabular-nums; line-height: 1.25; }
.figures dt { font-size: .75rem; color: var(--soft); line-height: 1.3; }
figure + figure { margin-top: .8rem; }
figcaption { display: flex; justify-content: space-between; font-size: .75rem; color: var(--soft); }
svg { display: block; width: 100%; height: 4.6rem; }
figure + figure svg { height: 2.2rem; }
svg .hit { fill: transparent; }
svg a:hover .hit, svg a:focus .hit { fill: var(--sunk); }
svg .ground { stroke: var(--line); vector-effect: non-scaling-stroke; }
svg .cached { fill: var(--cached); } svg .fresh { fill: var(--fresh); } svg .out { fill: var(--out); } svg .cost { fill: var(--cost); }
.legend { display: flex; flex-wrap: wrap; gap: .2rem .8rem; margin-top: .3rem; font-size: .72rem; color: var(--soft); }
.key::before { content: ""; display: inline-block; width: .6em; height: .6em; margin-right: .35em; border-radius: 2px; }
.key.cached::before { background: var(--cached); } .key.fresh::before { background: var(--fresh); } .key.out::before { background: var(--out); }
.about dl { display: grid; gap: .1rem; margin-top: .5rem; font-size: .85rem; }
.about dt { color: var(--soft); font-size: .75rem; }
.about dd + dt { margin-top: .4rem; }
.about code { font-size: .92em; }
.about b { font-weight: 600; }
ul.labels { list-style: none; padding: 0; margin-top: .7rem; display: flex; flex-wrap: wrap; gap: .3rem; }
.label { padding: .05rem .5rem; border-radius: 999px; background: var(--label); color: var(--label-ink); font-size: .75rem; text-decoration: none; }

.tree, .fork ul { list-style: none; padding: 0; margin-top: .5rem; display: grid; grid-template-columns: minmax(0, 1fr); gap: .25rem; }
.tree { max-height: 22rem; overflow-y: auto; scrollbar-width: thin; }
.tree button, .fork button {
  display: block; width: 100%; text-align: left; padding: .4rem .6rem; border: 1px solid transparent; border-left: 3px solid var(--line);
  border-radius: 6px; background: none; line-height: 1.35; font-size: .86rem;
}
.tree button:hover, .fork button:hover { background: var(--sunk); }
.tree button[aria-current], .fork button[aria-current] { border-left-color: var(--accent); background: var(--sunk); }
.preview { display: block; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.facts { display: flex; flex-wrap: wrap; gap: .4rem; font-size: .75rem; color: var(--soft); }
.current { color: var(--accent); font-weight: 600; }
.d1 { margin-left: .9rem; } .d2 { margin-left: 1.8rem; } .d3 { margin-left: 2.7rem; } .d4 { margin-left: 3.6rem; }
.d5 { margin-left: 4.5rem; } .d6 { margin-left: 5.2rem; } .d7 { margin-left: 5.9rem; } .d8 { margin-left: 6.6rem; }
.fork { margin: 1.2rem 0; padding: .7rem .8rem; border: 1px dashed var(--line); border-radius: 10px; }
.fork p { font-size: .78rem; color: var(--soft); }
.fork button { background: var(--card); }

.said, main > section > .marker { content-visibility: auto; contain-intrinsic-size: auto 9rem; }
.said { padding: .2rem 0 .9rem; }
.said > header { display: flex; align-items: baseline; gap: .6rem; margin-bottom: .25rem; font-size: .8rem; color: var(--soft); }
.said > header time { margin-left: auto; font-variant-numeric: tabular-nums; }
.who { color: var(--soft); font-weight: 600; text-decoration: none; }
.who:hover { text-decoration: underline; }
.user { margin: 1rem 0; padding: .7rem 1rem .8rem; background: var(--user); border-left: 3px solid var(--user-line); border-radius: 4px 12px 12px 4px; }
.user .who { color: var(--accent); }
.custom { margin: .8rem 0; padding: .6rem 1rem; border: 1px solid var(--line); border-radius: 10px; }
.said > footer { display: flex; flex-wrap: wrap; gap: .1rem .8rem; margin-top: .35rem; font-size: .74rem; color: var(--soft); font-variant-numeric: tabular-nums; }
.assistant + .assistant > header:not(:has(.label)) { display: none; }
:target { scroll-margin-top: 4.5rem; }
.said:target, .marker:target { box-shadow: -6px 0 0 var(--accent); }

.prose > * { margin-top: 0; }
.prose > * + * { margin-top: .7em; }
.prose h3, .prose h4, .prose h5, .prose h6 { font-size: 1.05rem; line-height: 1.35; margin-top: 1.2em; }
.prose h3 { font-size: 1.2rem; }
.prose ul, .prose ol { padding-left: 1.4em; }
.prose li + li { margin-top: .2em; }
.prose li > * + * { margin-top: .4em; }
.prose blockquote { margin-inline: 0; margin-bottom: 0; padding-left: .9em; border-left: 3px solid var(--line); color: var(--soft); }
.prose blockquote > * + * { margin-top: .5em; }
.prose hr { border: 0; border-top: 1px solid var(--line); }
.prose code { font-size: .88em; padding: .1em .3em; border-radius: 4px; background: var(--sunk); }
.prose pre code { padding: 0; background: none; font-size: 1em; }
.prose + .prose { margin-top: .7em; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-size: .92em; }
th, td { padding: .3em .7em; border: 1px solid var(--line); text-align: left; vertical-align: top; overflow-wrap: normal; }
th { background: var(--sunk); }
pre {
  max-height: 34rem; overflow: auto; padding: .65rem .8rem; border-radius: 8px; background: var(--sunk);
  font-size: .8rem; line-height: 1.5; white-space: pre-wrap; tab-size: 4; unicode-bidi: plaintext;
}
pre + pre { margin-top: .4rem; }
.prose pre { white-space: pre; overflow-wrap: normal; max-height: none; position: relative; }
.language { position: absolute; top: .25rem; right: .6rem; font-size: .7rem; color: var(--soft); user-select: none; }
.picture { display: block; max-width: 100%; max-height: 70vh; margin: .5rem 0; border-radius: 8px; border: 1px solid var(--line); }

details > summary { cursor: pointer; }
.call { margin: .35rem 0; border: 1px solid var(--line); border-radius: 8px; background: var(--card); }
.call > summary { display: flex; align-items: baseline; gap: .6rem; padding: .35rem .7rem; font-size: .82rem; list-style: none; min-width: 0; }
.call > summary::-webkit-details-marker { display: none; }
.call > summary::before { content: "▸"; color: var(--soft); font-size: .8em; transition: transform .1s; }
.call[open] > summary::before { transform: rotate(90deg); }
.call > summary:hover { background: var(--sunk); border-radius: 8px; }
.tool { font-weight: 600; color: var(--accent); max-width: 12rem; flex: none; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.about { min-width: 0; }
summary > .about { flex: 1; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; color: var(--soft); }
.call[open] > summary > .about { white-space: normal; }
.outcome { flex: none; margin-left: auto; font-size: .76rem; color: var(--soft); font-variant-numeric: tabular-nums; }
.failed > summary .outcome, .open > summary .outcome { color: var(--bad); }
.inside { padding: .1rem .7rem .7rem; display: grid; gap: .5rem; min-width: 0; }
.inside > * { min-width: 0; }
.command pre { background: none; border: 1px solid var(--line); }
.command pre::before { content: "$ "; color: var(--soft); user-select: none; }
.result { display: grid; gap: .5rem; min-width: 0; }
.result.bad pre { background: var(--bad-bg); }
.arguments { display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: .1rem .8rem; font-size: .8rem; }
.arguments dt { color: var(--soft); }
.arguments dd { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; white-space: pre-wrap; }
.diff { padding: .4rem 0; }
.diff span { display: block; padding: 0 .8rem; min-height: 1.5em; }
.diff .add { color: var(--add); background: var(--add-bg); } .diff .del { color: var(--del); background: var(--del-bg); } .diff .hunk { color: var(--hunk); }
.thinking { margin: .35rem 0; color: var(--soft); font-size: .9rem; }
.thinking > summary { font-size: .82rem; font-style: italic; }
.thinking > .inside { margin: .2rem 0 .4rem .3rem; padding: .1rem 0 .1rem .9rem; border-left: 2px solid var(--line); }
.marker { margin: .8rem 0; font-size: .8rem; color: var(--soft); }
p.marker { text-align: center; }
.marker > summary { padding: .3rem .7rem; border: 1px dashed var(--line); border-radius: 8px; }
.marker time { margin-left: .6rem; }
.marker > .inside { padding: .7rem; color: var(--ink); font-size: .9rem; }
.compaction > summary { border-color: var(--user-line); color: var(--ink); }
.section { font-weight: 600; }
.note { font-size: .8rem; color: var(--soft); font-style: italic; }
.note.edited-out, .note.edited-over { display: none; }
.dropped > .edited-out, .replaced > .edited-over { display: block; margin-bottom: .3rem; }
.dropped { opacity: .62; filter: grayscale(1); }
.dropped .dropped { opacity: 1; filter: none; }
.failure { margin: .3rem 0; padding: .45rem .7rem; border-radius: 8px; background: var(--bad-bg); color: var(--bad); font-size: .88rem; }
:root[data-talk] main :is(.call, .thinking, .marker) { display: none; }

@media (max-width: 40rem) {
  body { font-size: 15.5px; }
  .top { align-items: start; }
  h1 { white-space: normal; display: -webkit-box; -webkit-line-clamp: 2; -webkit-box-orient: vertical; font-size: .98rem; }
  .where span { display: none; }
  .switches button { padding: .2rem .55rem; }
  .user { padding: .6rem .8rem; }
  pre + pre { margin-top: .4rem; }
.prose pre { white-space: pre-wrap; overflow-wrap: anywhere; }
}
@media print {
  .top, .page { position: static; display: block; }
  aside, .switches, .fork { display: none; }
  pre { max-height: none; }
  .said, main > section > .marker { content-visibility: visible; }
}
`;
