// Part of the command: loads its large chunk with the code cache that the build made for it, which saves V8 the
// compilation, a fifth of the way to the first request. A cache is for one version of Node on one architecture; with
// any other, and when V8 refuses the cache, the chunk is compiled as ever.
const { readFileSync } = require("node:fs");
const { createRequire, Module, wrap } = require("node:module");
const { dirname } = require("node:path");
const vm = require("node:vm");

module.exports = function loadChunk(path) {
  const cachedData = readCache(`${path}.${process.version}-${process.arch}.cache`);
  if (!cachedData) return require(path);
  const script = new vm.Script(wrap(readFileSync(path, "utf8")), {
    filename: path,
    cachedData,
  });
  const chunk = new Module(path, module);
  chunk.filename = path;
  // Other chunks require this one: they get the same module.
  require.cache[path] = chunk;
  script.runInThisContext()(chunk.exports, createRequire(path), chunk, path, dirname(path));
  chunk.loaded = true;
  return chunk.exports;
};

function readCache(path) {
  try {
    return readFileSync(path);
  } catch {
    return undefined; // made for another Node
  }
}
