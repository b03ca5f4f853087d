import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import type { WireApi } from "@tau/llm/testing";
import { Tau } from "../tau.ts";

/**
 * Where the other programs are. They are too large for the dependencies of this project: `.ci/run` installs them into
 * a scratch folder and sets the variables; docs/testing.md says how to do it by hand.
 */
const { TAU_TEST_PI, TAU_TEST_PI_OLD, TAU_TEST_NODE24 } = process.env;

/** A program that reads and writes session files. */
export interface Agent {
  readonly name: string;
  /** Starts it on a session file, in JSON mode. */
  start(bed: InteropBed, args: readonly string[]): ChildProcess;
}

/** A machine with tau and pi on it; both know the provider `mock` with the model `m`. */
export class InteropBed extends Tau {
  useApi(url: string, api: WireApi): void {
    const baseUrl = api === "anthropic-messages" ? url : `${url}/v1`;
    const models = [{ id: "m", reasoning: true, input: ["text", "image"], contextWindow: 200_000, maxTokens: 8000 }];
    const providers = { mock: { baseUrl, api, apiKey: "mock-key-12345", models } };
    this.file("home/.tau/models.json", { providers });
    this.file("home/.pi/agent/models.json", { providers });
    this.file("home/.pi/agent/settings.json", {
      defaultProvider: "mock",
      defaultModel: "m",
      enableInstallTelemetry: false,
      enableAnalytics: false,
      defaultProjectTrust: "always",
      retry: { enabled: false },
    });
    this.file("home/.tau/settings.json", { retry: { enabled: false } });
  }

  /** The one session file, whichever program it is of; undefined when there is none. */
  sessionFile(): string | undefined {
    const folders = [join(this.tauDir, "sessions"), join(this.home, ".pi/agent/sessions")];
    const files = folders.filter(existsSync).flatMap((folder) =>
      readdirSync(folder, { recursive: true, encoding: "utf8" })
        .filter((name) => name.endsWith(".jsonl"))
        .map((name) => join(folder, name)),
    );
    const [file] = files;
    if (files.length > 1) throw new Error(`expected one session file, found ${files.length}`);
    return file;
  }
}

export const tau: Agent = {
  name: "tau",
  start: (bed, args) => bed.start(["--mode", "json", "--model", "mock/m", "--thinking", "low", ...args]),
};

function piAgent(name: string, command: string | undefined, node: string | undefined): Agent | undefined {
  if (!command || !node) return undefined;
  return {
    name,
    start: (bed, args) =>
      spawn(node, [command, "--mode", "json", "-p", "--model", "mock/m", "--thinking", "low", ...args], {
        cwd: bed.cwd,
        env: {
          PATH: [dirname(node), "/usr/bin", "/bin"].join(delimiter),
          HOME: bed.home,
          PI_OFFLINE: "1",
          PI_TELEMETRY: "0",
          PI_SKIP_VERSION_CHECK: "1",
        },
        stdio: ["ignore", "pipe", "pipe"],
      }),
  };
}

/** pi 1.6, which needs Node 22 or newer; undefined where it is not installed. */
export const pi = piAgent("pi 1.6", TAU_TEST_PI, TAU_TEST_NODE24);

/** pi 0.73. */
export const oldPi = piAgent("pi 0.73", TAU_TEST_PI_OLD, process.execPath);
