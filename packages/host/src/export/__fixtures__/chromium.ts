import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Duplex, Readable, Writable } from "node:stream";

const COMMAND = "chromium";
const FLAGS = [
  "--headless",
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--disable-dev-shm-usage",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--no-first-run",
  "--remote-debugging-pipe",
];

/** Whether there is a browser to test with. */
export const hasChromium = (): boolean => spawnSync(COMMAND, ["--version"], { stdio: "ignore" }).status === 0;

interface Reply {
  id?: number;
  method?: string;
  params?: Record<string, unknown>;
  // biome-ignore lint/suspicious/noExplicitAny: the protocol has a shape for each method
  result?: any;
  error?: { message: string };
}

/** A headless browser, spoken to over its debugging pipe: JSON records with a NUL behind each. */
export class Chromium {
  readonly #profile = mkdtempSync(join(tmpdir(), "tau-chromium-"));
  readonly #process: ChildProcess;
  readonly #waiting = new Map<number, (reply: Reply) => void>();
  readonly #ended: Promise<void>;
  #ids = 0;
  #listeners: ((reply: Reply) => void)[] = [];

  constructor() {
    const stdio = ["ignore", "ignore", "ignore", "pipe", "pipe"] as const;
    this.#process = spawn(COMMAND, [...FLAGS, `--user-data-dir=${this.#profile}`], { stdio: [...stdio] });
    this.#ended = new Promise((resolve) => this.#process.on("close", () => resolve()));
    let rest = "";
    (this.#process.stdio[4] as Readable).setEncoding("utf8").on("data", (text: string) => {
      const records = (rest + text).split("\0");
      rest = records.pop() ?? "";
      for (const record of records) this.#take(JSON.parse(record));
    });
  }

  async open(url: string): Promise<Page> {
    const { targetId } = await this.send("Target.createTarget", { url: "about:blank" });
    const { sessionId } = await this.send("Target.attachToTarget", { targetId, flatten: true });
    const page = new Page(this, sessionId);
    await page.load(url);
    return page;
  }

  // biome-ignore lint/suspicious/noExplicitAny: the protocol has a shape for each method
  send(method: string, params: object = {}, sessionId?: string): Promise<any> {
    const id = ++this.#ids;
    const pipe = this.#process.stdio[3] as Writable & Duplex;
    pipe.write(`${JSON.stringify({ id, method, params, sessionId })}\0`);
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, ({ result, error }) => (error ? reject(new Error(error.message)) : resolve(result)));
    });
  }

  listen(listener: (reply: Reply) => void): void {
    this.#listeners = [...this.#listeners, listener];
  }

  async close(): Promise<void> {
    await this.send("Browser.close");
    await this.#ended;
    rmSync(this.#profile, { recursive: true, force: true, maxRetries: 5 });
  }

  #take(reply: Reply): void {
    if (reply.id === undefined) {
      for (const listener of this.#listeners) listener(reply);
      return;
    }
    this.#waiting.get(reply.id)?.(reply);
    this.#waiting.delete(reply.id);
  }
}

/** One page, with what it asked the network for and what its policy refused. */
export class Page {
  /** Addresses that were asked for, the page's own aside. */
  readonly requests: string[] = [];
  /** What the browser's console says. */
  readonly complaints: string[] = [];
  readonly #browser: Chromium;
  readonly #session: string;

  constructor(browser: Chromium, session: string) {
    this.#browser = browser;
    this.#session = session;
  }

  async load(url: string): Promise<void> {
    let loaded: () => void = () => undefined;
    const ready = new Promise<void>((resolve) => {
      loaded = resolve;
    });
    this.#browser.listen((reply) => {
      const { method, params = {} } = reply;
      if ((reply as { sessionId?: string }).sessionId !== this.#session) return;
      if (method === "Page.loadEventFired") loaded();
      if (method === "Network.requestWillBeSent") this.#note((params.request as { url: string }).url, url);
      if (method === "Log.entryAdded") this.complaints.push((params.entry as { text: string }).text);
    });
    for (const domain of ["Page", "Network", "Log"]) await this.#send(`${domain}.enable`);
    await this.#send("Page.navigate", { url });
    await ready;
  }

  /** In CSS pixels. */
  async resize(size: { width: number; height: number }): Promise<void> {
    await this.#send("Emulation.setDeviceMetricsOverride", { ...size, deviceScaleFactor: 1, mobile: false });
  }

  /** Value of an expression in the page. */
  // biome-ignore lint/suspicious/noExplicitAny: whatever the expression gives
  async evaluate(expression: string): Promise<any> {
    const { result, exceptionDetails } = await this.#send("Runtime.evaluate", { expression, returnByValue: true, awaitPromise: true });
    if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
    return result.value;
  }

  #note(address: string, own: string): void {
    // Images of the page itself are not requests to anyone.
    if (address.split("#")[0] !== own.split("#")[0] && !address.startsWith("data:")) this.requests.push(address);
  }

  // biome-ignore lint/suspicious/noExplicitAny: the protocol has a shape for each method
  #send(method: string, params: object = {}): Promise<any> {
    return this.#browser.send(method, params, this.#session);
  }
}
