import type { RpcMethods } from "../method.ts";
import type { RpcCommandType } from "../protocol.ts";
import { bashMethods } from "./bash.ts";
import { lookMethods } from "./look.ts";
import { modelMethods } from "./model.ts";
import { protocolMethods } from "./protocol.ts";
import { sessionMethods } from "./sessions.ts";
import { settingMethods } from "./settings.ts";
import { talkMethods } from "./talk.ts";

/** All commands. A new one is a row here, its fields and its data in `protocol.ts`, and a test. */
export const METHODS: RpcMethods<RpcCommandType> = {
  ...protocolMethods,
  ...talkMethods,
  ...lookMethods,
  ...modelMethods,
  ...settingMethods,
  ...bashMethods,
  ...sessionMethods,
};
