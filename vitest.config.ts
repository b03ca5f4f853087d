import { defineConfig } from "vitest/config";

export default defineConfig({
  resolve: { conditions: ["tau-source"] },
  ssr: { resolve: { conditions: ["tau-source"] } },
  test: {
    include: ["packages/*/{src,test}/**/*.test.ts", "scripts/**/*.test.mjs"],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    pool: "forks",
    env: { NO_COLOR: "1" },
    reporters: ["./scripts/summary-reporter.mjs"],
  },
});
