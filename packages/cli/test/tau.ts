import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { constants, tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** The command as `npm run build` makes it. */
export const COMMAND = fileURLToPath(new URL("../dist/tau.js", import.meta.url));

export interface Ended {
  /** As a shell gives it: 128 and the number of the signal for a process that died by one. */
  code: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
  /** Stdout as JSON lines. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into records of many shapes
  records(): any[];
}

export interface RunOptions {
  env?: Record<string, string>;
  /** A text, or the handle of a file; default: nothing to read. */
  stdin?: string | number;
  /** A pipe that nothing is written to and that nobody closes. */
  openStdin?: boolean;
  cwd?: string;
  /** The handle of a file; default: a pipe that is read. */
  stdout?: number;
}

/** A machine of its own for one test: a home, a project, and the command. */
export class Tau {
  readonly root = realpathSync(mkdtempSync(join(tmpdir(), "tau-cli-")));
  readonly home = join(this.root, "home");
  readonly cwd = join(this.root, "work");
  readonly tauDir = join(this.home, ".tau");

  constructor() {
    mkdirSync(this.cwd);
    mkdirSync(this.home);
  }

  /** Makes a folder below the root; gives its path. */
  folder(path: string): string {
    const full = join(this.root, path);
    mkdirSync(full, { recursive: true });
    return full;
  }

  /** Writes a file below the root; gives its path. */
  file(path: string, content: string | object): string {
    const full = join(this.root, path);
    mkdirSync(dirname(full), { recursive: true });
    writeFileSync(full, typeof content === "string" ? content : JSON.stringify(content));
    return full;
  }

  /** models.json with one provider `mock`, model `m`, at this server; `more` goes into the model. */
  useServer(url: string, more: object = {}): void {
    this.file("home/.tau/models.json", {
      providers: {
        mock: {
          baseUrl: `${url}/v1`,
          api: "openai-completions",
          apiKey: "mock-key-12345",
          models: [{ id: "m", ...more }],
        },
      },
    });
  }

  start(
    args: readonly string[],
    { env = {}, stdin, openStdin = false, cwd = this.cwd, stdout }: RunOptions = {},
  ): ChildProcess {
    const child = spawn(process.execPath, [COMMAND, ...args], {
      cwd,
      env: {
        PATH: [dirname(process.execPath), "/usr/bin", "/bin"].join(delimiter),
        HOME: this.home,
        TAU_OFFLINE: "1",
        ...env,
      },
      stdio: [
        typeof stdin === "number" ? stdin : stdin === undefined && !openStdin ? "ignore" : "pipe",
        stdout ?? "pipe",
        "pipe",
      ],
    });
    if (typeof stdin === "string") child.stdin?.end(stdin);
    return child;
  }

  run(args: readonly string[], options: RunOptions = {}): Promise<Ended> {
    return ended(this.start(args, options));
  }

  remove(): void {
    rmSync(this.root, { recursive: true, force: true });
  }
}

/** Other deaths have no code: they are none that tau chose. */
function shellCode(signal: NodeJS.Signals | null): number | null {
  const isOrderly = signal === "SIGINT" || signal === "SIGTERM" || signal === "SIGHUP";
  return isOrderly ? 128 + constants.signals[signal] : null;
}

export function ended(child: ChildProcess): Promise<Ended> {
  let stdout = "";
  let stderr = "";
  child.stdout?.setEncoding("utf8").on("data", (text) => {
    stdout += text;
  });
  child.stderr?.setEncoding("utf8").on("data", (text) => {
    stderr += text;
  });
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code, signal) => {
      const records = () =>
        stdout
          .split("\n")
          .slice(0, -1)
          .map((line) => JSON.parse(line));
      resolve({ code: code ?? shellCode(signal), signal, stdout, stderr, records });
    });
  });
}

/** Resolves with what came on stdout so far when the pattern is in it. */
export function seen(child: ChildProcess, pattern: RegExp): Promise<string> {
  let all = "";
  return new Promise((resolve, reject) => {
    child.stdout?.on("data", (chunk) => {
      all += String(chunk);
      if (pattern.test(all)) resolve(all);
    });
    child.on("close", () => reject(new Error(`ended without ${pattern}: ${all}`)));
  });
}
