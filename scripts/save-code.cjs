// Preloaded into a run of the built command by code-cache.mjs: at its end saves the code of each script that was
// compiled with a cache, with all functions that the run needed.
const { writeFileSync } = require("node:fs");
const { basename } = require("node:path");
const v8 = require("node:v8");
const vm = require("node:vm");

// A cache is refused by a V8 with other flags than those that it was made with, which are the ones of the start.
v8.setFlagsFromString = () => undefined;

const scripts = new Map();
vm.Script = class extends vm.Script {
  constructor(source, options) {
    // The name is in the cache, which goes to other machines. A copy, since V8 saves a part of a string with the whole.
    super(source, { ...options, filename: Buffer.from(basename(options.filename)).toString() });
    scripts.set(options.filename, this);
  }
};
process.on("exit", () => {
  for (const [path, script] of scripts)
    writeFileSync(`${path}.${process.version}-${process.arch}.cache`, script.createCachedData());
});
