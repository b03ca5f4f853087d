// The arrows of ARCHITECTURE.md as a table. A room is the longest prefix that fits a file; a file may import its own
// room and the rooms named here. `types:` allows type imports only.
const LLM_PUBLIC = "packages/llm/src/index.ts";
const AGENT_PUBLIC = "packages/agent/src/index.ts";
const HOST_PUBLIC = "packages/host/src/index.ts";
const llm = (room) => `packages/llm/src/${room}/`;
const host = (room) => `packages/host/src/${room}/`;

const ROOMS = {
  [llm("protocol")]: [],
  [llm("stream")]: [llm("protocol")],
  [llm("errors")]: [llm("protocol"), llm("stream")],
  [llm("providers")]: [llm("protocol"), llm("stream"), llm("errors"), llm("scripted")],
  [llm("catalog")]: [llm("protocol")],
  [llm("auth")]: [llm("protocol"), llm("stream")],
  [llm("scripted")]: [llm("protocol"), llm("stream")],
  "packages/agent/src/": [`types:${LLM_PUBLIC}`],
  [host("platform")]: [LLM_PUBLIC],
  [host("settings")]: [LLM_PUBLIC, host("platform")],
  [host("prompt")]: [host("settings"), host("platform"), LLM_PUBLIC],
  [host("tools")]: [AGENT_PUBLIC, LLM_PUBLIC, host("platform")],
  [host("permission")]: [AGENT_PUBLIC, LLM_PUBLIC, host("platform"), host("tools")],
  [host("store")]: [LLM_PUBLIC, AGENT_PUBLIC, host("platform")],
  [host("compaction")]: [LLM_PUBLIC, AGENT_PUBLIC, host("store")],
  [host("session")]: [
    AGENT_PUBLIC,
    LLM_PUBLIC,
    host("store"),
    host("compaction"),
    host("tools"),
    host("permission"),
    host("settings"),
    host("prompt"),
    host("platform"),
  ],
  [host("assembly")]: [
    AGENT_PUBLIC,
    LLM_PUBLIC,
    host("session"),
    host("store"),
    host("compaction"),
    host("tools"),
    host("permission"),
    host("settings"),
    host("prompt"),
    host("platform"),
  ],
  [host("rpc")]: [host("session"), host("store"), LLM_PUBLIC, AGENT_PUBLIC, host("platform")],
  [host("export")]: [host("store"), host("session"), LLM_PUBLIC, AGENT_PUBLIC, host("platform")],
  "packages/cli/src/": [LLM_PUBLIC, AGENT_PUBLIC, HOST_PUBLIC, "packages/llm/src/testing.ts"],
};

const roomOf = (path) =>
  Object.keys(ROOMS)
    .filter((room) => path.startsWith(room))
    .sort((a, b) => b.length - a.length)[0];

const isIndex = (path) => /^packages\/\w+\/src\/(index|testing)\.ts$/.test(path);

/** Imports that go against the table, and files that are in no room. */
export function checkLayers(sources) {
  const problems = [];
  for (const { path, imports, lineOf } of sources) {
    if (isIndex(path)) continue;
    const room = roomOf(path);
    if (!room) {
      problems.push(
        `${path}: is in no room; put it into one, or add the room to scripts/check/layers.mjs and ARCHITECTURE.md`,
      );
      continue;
    }
    for (const found of imports) {
      if (!found.target.startsWith("packages/") || found.target.startsWith(room)) continue;
      const allowed = ROOMS[room].some((rule) =>
        rule.startsWith("types:") ? found.typeOnly && found.target === rule.slice(6) : found.target.startsWith(rule),
      );
      if (!allowed) problems.push(layerMessage({ path, room, found, line: lineOf(found.node) }));
    }
  }
  return problems;
}

function layerMessage({ path, room, found, line }) {
  const may = ROOMS[room].join(", ") || "nothing of ours";
  return `${path}:${line}: ${room} must not import ${found.target}; it may import ${may}. Move the code to the room that may, or pass the value in`;
}
