// The public names of @tau/llm, listed by hand.
export {
  ENVIRONMENT_KEYS,
  type Environment,
  type EnvironmentKey,
  environmentKey,
  providersWithKeys,
} from "./auth/environment-keys.ts";
export {
  type FoundKey,
  type KeySources,
  knownSecretNames,
  type MissingKey,
  resolveHeaders,
  resolveKey,
  type StoredCredential,
  type WrittenSecrets,
  type WrittenSource,
} from "./auth/resolve-key.ts";
export { resolveSecret, runEachCommandOnce, type SecretContext, type SecretValue } from "./auth/secret-text.ts";
export {
  type Catalog,
  type CatalogOptions,
  createCatalog,
  type FindOptions,
  type ModelLookup,
  type ModelProblem,
} from "./catalog/catalog.ts";
export type { ModelConfig, ProviderConfig } from "./catalog/config.ts";
export { DEMO_MODEL } from "./catalog/demo-model.ts";
export type { SnapshotData, SnapshotRow } from "./catalog/snapshot.ts";
export { completeStream } from "./errors/complete-stream.ts";
export { headerSecrets } from "./errors/header-secrets.ts";
export type { ErrorKind } from "./protocol/errors.ts";
export type { AssistantMessageEvent, AssistantMessageEventStream, WireEvent } from "./protocol/events.ts";
export type {
  AssistantContent,
  AssistantMessage,
  ImageContent,
  Message,
  StopReason,
  SystemMessage,
  TextContent,
  ThinkingContent,
  ToolCall,
  ToolResultMessage,
  UserMessage,
} from "./protocol/message.ts";
export type { BodyFields, Compat, Model, ModelCost, PriceTier, ThinkingLevel, TokenPrices } from "./protocol/model.ts";
export type { Context, NetworkSettings, RequestTimeouts, StreamFn, StreamOptions } from "./protocol/request.ts";
export type { JsonSchema, Tool } from "./protocol/tool.ts";
export type { Cost, Usage } from "./protocol/usage.ts";
export { knownApis, stream } from "./providers/table.ts";
export { DEMO_PROMPT } from "./scripted/demo.ts";
export { nestedTooDeep } from "./stream/arguments.ts";
export {
  AssistantAssembler,
  type AssistantStream,
  createAssistantStream,
  emptyAssistantMessage,
  type Failure,
} from "./stream/assembler.ts";
export { EventStream, type EventStreamOptions } from "./stream/event-stream.ts";
export { foldWireEvent } from "./stream/fold.ts";
export { networkFromEnv } from "./stream/network.ts";
export type { TokenCounts } from "./stream/usage.ts";
