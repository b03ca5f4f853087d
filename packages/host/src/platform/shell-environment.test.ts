import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { shellEnvironment } from "./shell-environment.ts";

describe("shellEnvironment", () => {
  it("looks for an editor once for each environment, not at each command", () => {
    const folder = mkdtempSync(join(tmpdir(), "tau-path-"));
    try {
      const env = { PATH: folder, HOME: "/home/u" };
      const first = shellEnvironment(env);
      expect(first).toMatchObject({ HOME: "/home/u", EDITOR: "true", VIMINIT: expect.any(String) });
      writeFileSync(join(folder, "nvim"), "");
      chmodSync(join(folder, "nvim"), 0o755);
      expect(shellEnvironment(env)).toBe(first);
      expect(shellEnvironment({ ...env }).VIMINIT).toBeUndefined();
      expect(Object.isFrozen(first)).toBe(true);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
