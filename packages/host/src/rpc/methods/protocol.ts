import { count, oneOf, optional, text, texts } from "../fields.ts";
import type { RpcMethods } from "../method.ts";
import { PROTOCOL_VERSION } from "../protocol.ts";

/** What this server can do beyond the ecosystem's protocol. */
const CAPABILITIES = ["permission", "interrupt", "continue", "navigate", "phase"];

/** A client that names it is asked; of any other nobody knows whether it would ever answer. */
const ASKS = "permission";

/** Getting to know one another, and permission. */
export const protocolMethods: RpcMethods<"hello" | "respond_permission"> = {
  hello: {
    fields: { protocolVersion: optional(count), capabilities: optional(texts) },
    run({ sessions, services }, { capabilities = [] }) {
      sessions.setAttended(capabilities.includes(ASKS));
      const { version } = services;
      return { protocolVersion: PROTOCOL_VERSION, name: "tau", version, capabilities: [...CAPABILITIES] };
    },
  },
  respond_permission: {
    fields: {
      permissionId: optional(text),
      decision: oneOf("allow", "deny"),
      scope: optional(oneOf("once", "session", "always")),
      reason: optional(text),
    },
    run({ session, id }, { permissionId = String(id), ...answer }) {
      if (session.respondPermission(permissionId, answer)) return undefined;
      throw new Error(`there is no open permission request ${permissionId}; it was answered, or its run has ended`);
    },
  },
};
