import type { AgentMessage } from "@tau/agent";
import type { StreamFn } from "@tau/llm";
import { HookBus } from "../hooks/hook-bus.ts";
import { growingSecretMask, type MaskSecrets, secretMask } from "../platform/secret-mask.ts";
import { reasonOf } from "../platform/thrown.ts";
import type { EntryDraft } from "../store/entries.ts";
import { recordQueues } from "../store/queue-record.ts";
import { callStarted } from "../store/tau-records.ts";
import { resultLimit } from "../tools/pipeline/result-cap.ts";
import { ToolPipeline } from "../tools/pipeline/tool-pipeline.ts";
import { Compaction } from "./context/session-compaction.ts";
import { SessionHead } from "./context/session-head.ts";
import { Snapshots } from "./context/snapshot.ts";
import { cachedCounter } from "./context/tokens.ts";
import { Transcript } from "./context/transcript.ts";
import { EventHub } from "./events/event-hub.ts";
import { type PhaseSignal, PhaseTracker } from "./events/phase.ts";
import type { SessionEvent } from "./events/session-event.ts";
import { ModelChoice } from "./models/model-choice.ts";
import { type AgentSessionOptions, DEFAULT_SESSION_SETTINGS, type SessionSettings, timerSleep } from "./options.ts";
import { CallGate } from "./permission/call-gate.ts";
import { Questions } from "./permission/questions.ts";
import { programRows } from "./program-rows.ts";
import { SessionQueue } from "./queues/session-queue.ts";
import { AgentLink, type AgentLinkParts } from "./run/agent-link.ts";
import { BudgetKeeper } from "./run/budget.ts";
import type { DataAnswer } from "./run/data-answer.ts";
import type { LimitHit, Notice } from "./run/failure.ts";
import { noticeText } from "./run/failure-text.ts";
import { ModelRequests } from "./run/model-requests.ts";
import type { RunEnding } from "./run/outcome.ts";
import { RecoverySteps } from "./run/recovery-steps.ts";
import { Retries } from "./run/retries.ts";
import { Supervisor } from "./run/supervisor.ts";
import { UsageWatch } from "./usage/usage-watch.ts";
import { UserCommands } from "./user-commands.ts";

/** What the parts tell the session that holds them. */
export interface SessionHooks {
  limitHit(hit: LimitHit): void;
  /** The user did something that the model is to know with the next prompt. */
  said(message: AgentMessage): void;
  /** What the prompt that is on is to give as data, if it is. */
  answer(): DataAnswer | undefined;
  /** A listener that the session cannot do without failed (report R011). */
  frontEndFailed(): void;
}

export type SessionParts = Base & ReturnType<typeof assembleRun>;
type Base = ReturnType<typeof assembleBase>;

/** Makes the parts of a session and ties them together; nothing is started or written. */
export function assembleSession(options: AgentSessionOptions, streamFn: StreamFn, hooks: SessionHooks): SessionParts {
  const base = assembleBase(options, hooks);
  return { ...base, ...assembleRun(base, { options, streamFn, hooks }) };
}

/** What stands by itself: disk, events, queues, choices, counts. */
function assembleBase(options: AgentSessionOptions, hooks: SessionHooks) {
  const { now = Date.now, sleep = timerSleep, store } = options;
  const settings: SessionSettings = { ...DEFAULT_SESSION_SETTINGS, ...options.settings };
  const hub = makeHub(hooks);
  const emit = (event: SessionEvent) => hub.emit(event);
  const tell = (event: SessionEvent) => void hub.emit(event);
  const say = (notice: Notice) => tell({ type: "warning", message: noticeText(notice) });
  const count = cachedCounter(options.countTokens);
  const transcript = new Transcript(store, count, say);
  const append = (draft: EntryDraft) => void transcript.append(draft);
  const queues = new SessionQueue(() => {
    recordQueues(store, queues.list());
    tell({ type: "queue_update", ...queues.texts() });
  });
  const models = new ModelChoice({
    model: options.model,
    level: options.thinkingLevel ?? "off",
    fallbackModels: settings.fallbackModels,
    append,
    emit: tell,
    say,
    tokens: () => transcript.tokens,
  });
  const head = new SessionHead(options.systemPrompt, options.tools);
  const budget = new BudgetKeeper(settings.budget, sleep, now);
  const events = { hub, emit, tell, say, phase: new PhaseTracker(tell), questions: new Questions(tell) };
  const { cwd } = options;
  return { cwd, settings, now, sleep, count, append, transcript, queues, models, head, budget, ...events };
}

interface RunInput {
  readonly options: AgentSessionOptions;
  readonly streamFn: StreamFn;
  readonly hooks: SessionHooks;
}

/** What runs the agent and judges its runs. */
function assembleRun(base: Base, { options, streamFn, hooks }: RunInput) {
  const { transcript, models, budget, count, say } = base;
  const random = options.random ?? Math.random;
  const retries = new Retries({ ...base, settings: base.settings.retry, random });
  const { secrets = [] } = options;
  const mask = typeof secrets === "function" ? growingSecretMask(secrets) : secretMask(secrets);
  const bus = makeBus(base, options);
  const { guard, pipeline } = assembleCalls(base, { options, mask, bus, answer: hooks.answer });
  const requests = new ModelRequests({ ...base, streamFn, getApiKey: options.getApiKey });
  const usageWatch = new UsageWatch();
  const linkParts: AgentLinkParts = {
    ...base,
    pipeline,
    bus,
    mask,
    requests,
    limitHit: hooks.limitHit,
    answer: hooks.answer,
    answered(reply, sent) {
      const notice = usageWatch.check(reply, sent);
      if (notice) say(notice);
    },
    replied: (reply) => recovery.replied(reply),
    betweenTurns: (signal) => compaction.ifNeeded(signal),
  };
  const link = new AgentLink(linkParts);
  const reload = () => link.reload();
  const add = (message: AgentMessage) => hooks.said(message);
  const userCommands = new UserCommands({ runner: options.userCommands, add, mask, now: base.now });
  const compaction = new Compaction({
    ...base,
    compactor: options.compactor,
    streamFn: requests.beside,
    streamOptions: { sessionId: transcript.store.header.id },
    reload,
    use: (usage) => budget.use(usage),
    waitToRetry: (...failed) => retries.waitForSummary(...failed),
  });
  const recovery = new RecoverySteps({ ...base, compaction, retries, reload, random });
  const snapshots = new Snapshots({ ...base, agent: link.agent, reload, saveState: options.saveState });
  const supervisor = new Supervisor({
    ...base,
    compaction,
    guard,
    retries,
    recovery,
    run: (start, signal) => link.run(start, signal),
    enter: (messages) => link.enter(messages),
    hasQueued: () => link.agent.hasQueuedMessages(),
    count: (messages) =>
      messages.reduce((sum, one) => sum + count("role" in one ? one : one.message, models.model.id), 0),
    beforeSettle: (ending, signal) => bus.beforeSettle(ending, signal),
  });
  return { guard, link, requests, compaction, retries, supervisor, snapshots, userCommands, mask };
}

interface CallsInput {
  readonly options: AgentSessionOptions;
  readonly mask: MaskSecrets;
  readonly bus: HookBus<RunEnding>;
  readonly answer: SessionHooks["answer"];
}

/** What every call goes through. */
function assembleCalls(base: Base, { options, mask, bus, answer }: CallsInput) {
  const { phase, models, append, tell } = base;
  const signalPhase = (signal: PhaseSignal) => phase.signal(signal);
  const gateParts = { questions: base.questions, emit: tell, gate: options.permission, phase: signalPhase };
  const guard = new CallGate(gateParts, options.attended ?? false);
  const pipeline = new ToolPipeline({
    hooks: bus,
    mask,
    resultLimit: (calls) => resultLimit(models.model.contextWindow, calls),
    keepWhole: options.keepWhole,
    async decide(call, steps, signal) {
      // An answer does nothing that somebody could forbid.
      return call.toolName === answer()?.tool.name ? { action: "allow" } : guard.decide(call, steps, signal);
    },
    onStart(toolCallId, toolName) {
      append(callStarted(toolCallId, toolName));
      signalPhase("tool_start");
    },
    onEnd: (signal) => signal.aborted || signalPhase("tool_end"),
  });
  return { guard, pipeline };
}

function makeBus({ tell }: Base, options: AgentSessionOptions): HookBus<RunEnding> {
  const bus = options.bus ?? new HookBus<RunEnding>();
  bus.replace([], programRows(options.hooks ?? {}));
  bus.reportTo(({ name, point, message }) => {
    tell({ type: "listener_error", event: point, error: `${name}: ${message}` });
  });
  return bus;
}

function makeHub(hooks: SessionHooks): EventHub<SessionEvent> {
  const hub: EventHub<SessionEvent> = new EventHub(({ event, error, essential }) => {
    if (essential) hooks.frontEndFailed();
    // A listener that fails on the report of a failure has nobody left to tell.
    if (event.type === "listener_error") return;
    void hub.emit({
      type: "listener_error",
      event: event.type,
      error: reasonOf(error),
    });
  });
  return hub;
}
