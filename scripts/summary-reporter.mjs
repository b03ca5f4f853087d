/** Ends a test run with one plain line that any reader of a log understands: `12 passed, 0 failed, 1 skipped`. */
export default class SummaryReporter {
  onTestRunEnd(modules, errors) {
    const counts = { passed: 0, failed: errors.length, skipped: 0 };
    for (const module of modules) {
      if (module.state() === "failed" && module.children.size === 0) counts.failed++;
      for (const test of module.children.allTests()) counts[test.result().state]++;
    }
    process.on("exit", () => {
      console.log(`${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`);
    });
  }
}
