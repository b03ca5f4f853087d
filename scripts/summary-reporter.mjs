import { relative } from "node:path";

/**
 * Reports a test run for people who wait and for logs: a line as each file ends, a failure as soon as it happens, then
 * what failed, what was skipped and why, and one plain last line: `12 passed, 0 failed, 1 skipped`.
 */
export default class SummaryReporter {
  #total = 0;
  #ended = 0;

  onInit(vitest) {
    this.logger = vitest.logger;
    this.root = vitest.config.root;
    // With `-t` nearly all tests are skipped, and nobody asks why.
    this.isFiltered = vitest.config.testNamePattern !== undefined;
  }

  onTestRunStart(specifications) {
    this.#total = specifications.length;
  }

  onUserConsoleLog({ content }) {
    this.logger.log(content.trimEnd());
  }

  onTestCaseResult(test) {
    if (test.result().state === "failed") this.#fail(this.#pathOf(test.module), test);
  }

  onTestModuleEnd(module) {
    const path = this.#pathOf(module);
    this.#ended++;
    // Errors outside of tests: a file that does not load, a hook around a suite that throws.
    if (module.errors().length > 0) this.#fail(path, module);
    for (const suite of module.children.allSuites()) if (suite.errors().length > 0) this.#fail(path, suite);
    const counts = countStates([module]);
    const word = failed(module) ? "FAIL" : "ok";
    const seconds = (module.diagnostic().duration / 1000).toFixed(1);
    this.logger.log(`${`${this.#ended}/${this.#total}`.padStart(7)} ${word} ${path} (${inWords(counts)}) ${seconds} s`);
  }

  onTestRunEnd(modules, errors) {
    for (const error of errors) this.logger.printError(error, { type: "Unhandled error" });
    const tests = modules.flatMap((module) => [...module.children.allTests()]);
    this.#list("Failed:", [
      ...modules.filter((module) => module.errors().length > 0).map((module) => this.#pathOf(module)),
      ...tests.filter((test) => test.result().state === "failed").map((test) => this.#nameOf(test)),
    ]);
    this.#list(
      "Skipped:",
      tests
        .filter((test) => test.result().state === "skipped" && !this.isFiltered)
        .map((test) => `${this.#nameOf(test)}: ${reasonOf(test)}`),
    );
    const counts = countStates(modules);
    counts.failed += errors.length;
    process.on("exit", () => {
      console.log(`${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`);
    });
  }

  /** Prints the errors of a test, a suite or a file, each with its place in the code. */
  #fail(path, entity) {
    const errors = entity.type === "test" ? entity.result().errors : entity.errors();
    this.logger.error(`\nFAIL ${path}${entity.fullName ? ` > ${entity.fullName}` : ""}`);
    for (const error of errors) this.logger.printError(error, { project: entity.project });
  }

  #list(title, lines) {
    if (lines.length > 0) this.logger.log(["", title, ...lines.map((line) => `  ${line}`)].join("\n"));
  }

  #pathOf(module) {
    return relative(this.root, module.moduleId);
  }

  #nameOf(test) {
    return `${this.#pathOf(test.module)} > ${test.fullName}`;
  }
}

const failed = (module) => module.state() === "failed" || countStates([module]).failed > 0;

/** A file that fails without a failed test (it does not load, say) counts as one failure. */
function countStates(modules) {
  const counts = { passed: 0, failed: 0, skipped: 0, pending: 0 };
  for (const module of modules) {
    const before = counts.failed;
    for (const test of module.children.allTests()) counts[test.result().state]++;
    if (module.state() === "failed" && counts.failed === before) counts.failed++;
  }
  return counts;
}

const inWords = ({ passed, failed, skipped }) =>
  [`${passed} passed`, failed > 0 ? `${failed} failed` : "", skipped > 0 ? `${skipped} skipped` : ""]
    .filter(Boolean)
    .join(", ");

function reasonOf(test) {
  const note = test.result().note;
  if (note) return note;
  return test.options.mode === "todo" ? "to do" : "no reason given; skip with context.skip(condition, reason)";
}
