// Preloaded into a run of the built command by code-cache.mjs: at its end saves the code of each script that was
// compiled with a cache, with all functions that the run needed.
const { writeFileSync } = require("node:fs");
const v8 = require("node:v8");
const vm = require("node:vm");

// A cache is refused by a V8 with other flags than those that it was made with, which are the ones of the start.
v8.setFlagsFromString = () => undefined;

const scripts = new Map();
vm.Script = class extends vm.Script {
  constructor(source, options) {
    super(source, options);
    scripts.set(options.filename, this);
  }
};
process.on("exit", () => {
  for (const [path, script] of scripts)
    writeFileSync(`${path}.${process.version}-${process.arch}.cache`, script.createCachedData());
});
