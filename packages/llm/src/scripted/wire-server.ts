import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { checkAnthropicRequest } from "./strict-anthropic.ts";
import type { Json, StrictRules } from "./strict-checker.ts";
import { checkOpenAIRequest } from "./strict-openai.ts";
import { checkResponsesRequest } from "./strict-responses.ts";
import { anthropicErrorFrame, anthropicFrames, wireSignatures } from "./wire-anthropic.ts";
import { openAIErrorFrame, openAIFrames } from "./wire-openai.ts";
import { sendReply } from "./wire-play.ts";
import type { Frame, FrameContext, WireReply } from "./wire-reply.ts";
import { responsesErrorFrame, responsesFrames } from "./wire-responses.ts";

export type WireApi = "openai-completions" | "openai-responses" | "anthropic-messages";

/** One request that reached the server. */
export interface WireRequest {
  /** Which valid request it is, from 0; an invalid one has the number it would have had. */
  index: number;
  api: WireApi;
  path: string;
  /** Names are in lower case. */
  headers: Readonly<Record<string, string | string[] | undefined>>;
  body: Json;
  /** The body as it came. */
  raw: string;
  violations: string[];
  /** The client hung up before the answer was complete. */
  cutOff: boolean;
}

export type WireStepFunction = (request: WireRequest, index: number) => WireReply | Promise<WireReply>;

export interface WireServerOptions {
  /** Answer n for valid request n, or one function for all. */
  steps: readonly WireReply[] | WireStepFunction;
  /** What is a valid request; false lets everything pass. Default: the strict rules of the API. */
  strict?: StrictRules | boolean;
  /** Refuses thinking signatures that this server did not give out. Default false. */
  checkSignatures?: boolean;
  /** Bytes in a write to the socket: frames are then cut anywhere. Default: whole frames. */
  writeSize?: number;
  /** Ids for GET …/models. Without it that path is unknown. */
  models?: readonly string[];
}

export interface WireServer {
  /** `http://127.0.0.1:<port>`; both this and this with `/v1` are good base URLs. */
  url: string;
  requests: WireRequest[];
  /** What was wrong with requests, of all of them. */
  violations: string[];
  /** Throws when a request was invalid, when one came too many, or when a step was not used. */
  assertDone(): void;
  close(): Promise<void>;
}

interface Dialect {
  api: WireApi;
  path: RegExp;
  check(body: unknown, rules: StrictRules): string[];
  frames(reply: WireReply, context: FrameContext): Iterable<Frame>;
  errorFrame(error: object): string;
  errorBody(message: string): object;
}

const DIALECTS: readonly Dialect[] = [
  {
    api: "openai-completions",
    path: /\/chat\/completions$/,
    check: checkOpenAIRequest,
    frames: openAIFrames,
    errorFrame: openAIErrorFrame,
    errorBody: openAIErrorBody,
  },
  {
    api: "openai-responses",
    path: /\/responses$/,
    check: checkResponsesRequest,
    frames: responsesFrames,
    errorFrame: responsesErrorFrame,
    errorBody: openAIErrorBody,
  },
  {
    api: "anthropic-messages",
    path: /\/messages$/,
    check: checkAnthropicRequest,
    frames: anthropicFrames,
    errorFrame: anthropicErrorFrame,
    errorBody: (message) => ({ type: "error", error: { type: "invalid_request_error", message } }),
  },
];

function openAIErrorBody(message: string): object {
  return { error: { message, type: "invalid_request_error", param: null, code: null } };
}

/** Starts a model server on a free loopback port that plays a script over HTTP and logs what it was asked. */
export async function wireServer(options: WireServerOptions): Promise<WireServer> {
  const play = new WirePlay(options);
  const server = createServer((request, response) => {
    play.answer(request, response).catch((error: unknown) => {
      play.problems.push(`the server failed: ${String(error)}`);
      response.destroy();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    requests: play.requests,
    violations: play.violations,
    assertDone: () => play.assertDone(),
    close: () => close(server),
  };
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}

class WirePlay {
  readonly requests: WireRequest[] = [];
  readonly violations: string[] = [];
  readonly problems: string[] = [];
  readonly #options: WireServerOptions;
  readonly #rules: StrictRules | undefined;
  readonly #signatures = new Set<string>();
  #answered = 0;

  constructor(options: WireServerOptions) {
    this.#options = options;
    const { strict = true } = options;
    const signatures = options.checkSignatures ? { knownSignatures: this.#signatures } : {};
    this.#rules = strict === false ? undefined : { ...(strict === true ? {} : strict), ...signatures };
  }

  async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const raw = await readBody(request);
    if (raw === undefined) return;
    const path = (request.url ?? "").split("?")[0] ?? "";
    const dialect = DIALECTS.find((candidate) => request.method === "POST" && candidate.path.test(path));
    if (!dialect) {
      this.#answerOther(path, response);
      return;
    }
    const entry = this.#log({ request, raw, path, dialect });
    response.on("close", () => {
      entry.cutOff = !response.writableFinished;
    });
    const refusal = entry.violations.length > 0 ? entry.violations.join("; ") : undefined;
    const reply = refusal ? undefined : await this.#step(entry);
    if (!reply) {
      const message = refusal ?? `Unexpected request ${this.#answered}: the script is over`;
      sendJson(response, 400, dialect.errorBody(message));
      return;
    }
    for (const signature of wireSignatures(reply)) this.#signatures.add(signature);
    const frames = dialect.frames(reply, frameContext(entry));
    const { writeSize } = this.#options;
    await sendReply(response, { reply, frames, errorFrame: dialect.errorFrame, ...(writeSize ? { writeSize } : {}) });
  }

  assertDone(): void {
    const { steps } = this.#options;
    const unused = typeof steps === "function" ? 0 : steps.length - this.#answered;
    const left =
      unused > 0 ? [`The script was not played to its end: ${this.#answered} of ${steps.length} steps used.`] : [];
    const all = [...this.violations, ...this.problems, ...left];
    if (all.length > 0) throw new Error(all.join("\n"));
  }

  #log(seen: { request: IncomingMessage; raw: string; path: string; dialect: Dialect }): WireRequest {
    const { request, raw, path, dialect } = seen;
    const { body, problem } = parseBody(raw);
    const violations = problem ? [problem] : this.#rules ? dialect.check(body, this.#rules) : [];
    const index = this.#answered;
    this.violations.push(...violations.map((violation) => `request ${this.requests.length + 1}: ${violation}`));
    const entry = { index, api: dialect.api, path, headers: request.headers, body, raw, violations, cutOff: false };
    this.requests.push(entry);
    return entry;
  }

  async #step(entry: WireRequest): Promise<WireReply | undefined> {
    const { steps } = this.#options;
    const index = this.#answered++;
    if (typeof steps === "function") return steps(entry, index);
    const step = steps[index];
    if (!step) this.problems.push(`Unexpected request ${index + 1}: the script has ${steps.length} steps.`);
    return step;
  }

  #answerOther(path: string, response: ServerResponse): void {
    const { models } = this.#options;
    if (models && path.endsWith("/models")) {
      sendJson(response, 200, { object: "list", data: models.map((id) => ({ id, object: "model" })) });
      return;
    }
    sendJson(response, 404, { error: { message: `no such path: ${path}`, type: "not_found" } });
  }
}

function frameContext(entry: WireRequest): FrameContext {
  const options = entry.body.stream_options;
  return {
    model: String(entry.body.model),
    step: entry.index,
    requestBytes: Buffer.byteLength(entry.raw),
    usageAsked:
      typeof options === "object" && options !== null && "include_usage" in options && options.include_usage === true,
  };
}

/** Undefined when the client was gone before its request was whole: then nothing was asked. */
async function readBody(request: IncomingMessage): Promise<string | undefined> {
  const parts: Buffer[] = [];
  try {
    for await (const part of request) parts.push(part as Buffer);
  } catch (error) {
    if (request.complete) throw error;
    return undefined;
  }
  return Buffer.concat(parts).toString("utf8");
}

function parseBody(raw: string): { body: Json; problem?: string } {
  try {
    return { body: JSON.parse(raw) as Json };
  } catch (error) {
    return { body: {}, problem: `the body is not JSON: ${String(error)}` };
  }
}

function sendJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify(body));
}
