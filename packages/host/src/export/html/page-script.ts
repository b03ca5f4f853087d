/**
 * The page's own script; the policy of the page names its hash, and no other script runs. It shows a branch, follows
 * links into other branches, and has three switches. Without it the current branch is shown, and folds open as ever.
 */
export const PAGE_SCRIPT = String.raw`
(() => {
  "use strict";
  const root = document.documentElement;
  const all = (selector) => document.querySelectorAll(selector);
  const chains = new Map();
  for (const section of all("section[data-chain]")) chains.set(section.dataset.chain, section);

  const pathTo = (end) => {
    const path = new Set();
    for (let at = end; chains.has(at); at = chains.get(at).dataset.parent) path.add(at);
    return path;
  };

  const showEdits = (path) => {
    for (const element of all("[data-edits]")) {
      const edits = element.dataset.edits.split(" ").filter((edit) => path.has(edit.slice(0, -1)));
      const last = edits.at(-1) ?? "";
      element.classList.toggle("dropped", last.endsWith("h"));
      element.classList.toggle("replaced", last.endsWith("r"));
    }
  };

  const show = (end) => {
    const path = pathTo(end);
    for (const [chain, section] of chains) section.hidden = !path.has(chain);
    for (const button of all("button[data-chain]")) {
      if (path.has(button.dataset.chain)) button.setAttribute("aria-current", "true");
      else button.removeAttribute("aria-current");
    }
    showEdits(path);
    root.dataset.branch = end;
  };

  const goTo = (hash) => {
    const target = /^#e\d+$/.test(hash) ? document.getElementById(hash.slice(1)) : null;
    if (!target) return;
    const section = target.closest("section[data-chain]");
    if (section && section.hidden) show(section.dataset.end);
    for (let at = target; at; at = at.parentElement) if (at.tagName === "DETAILS") at.open = true;
    target.scrollIntoView();
  };

  const dark = matchMedia("(prefers-color-scheme: dark)");
  const switches = {
    theme: () => {
      const isDark = root.dataset.theme ? root.dataset.theme === "dark" : dark.matches;
      root.dataset.theme = isDark ? "light" : "dark";
    },
    unfold: (button) => {
      const open = button.getAttribute("aria-pressed") !== "true";
      // The system prompt is long and nobody's words: it opens by itself alone.
      for (const details of all("main details:not(.prompt)")) details.open = open;
      button.setAttribute("aria-pressed", String(open));
    },
    talk: (button) => {
      const only = root.toggleAttribute("data-talk");
      button.setAttribute("aria-pressed", String(only));
    },
  };

  document.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (!button) return;
    if (button.dataset.end !== undefined) {
      const inFork = button.closest(".fork");
      show(button.dataset.end);
      if (!inFork) chains.get(button.dataset.chain).scrollIntoView();
    } else if (Object.hasOwn(switches, button.dataset.switch)) switches[button.dataset.switch](button);
  });
  addEventListener("hashchange", () => goTo(location.hash));
  // On a phone what was said comes first; the cards above it are a tap away.
  if (matchMedia("(max-width: 63.99rem)").matches) for (const card of all("aside details")) card.open = false;
  root.dataset.ready = "true";
  goTo(location.hash);
})();
`;
