import { SessionError } from "../session/session-error.ts";
import { type CommandRows, servicesOf, sessionsOf } from "./command-row.ts";
import { count, oneOf, optional, text, texts } from "./fields.ts";

/** Version of the protocol of docs/rpc.md; it grows when a client would have to change. */
const PROTOCOL_VERSION = 1;

/** What tau can do beyond pi's protocol. */
const CAPABILITIES = ["permission", "interrupt", "continue", "navigate", "phase"];

/** A client that names it is asked; of any other nobody knows whether it would ever answer. */
const ASKS = "permission";

/** Getting to know one another, and permission. */
export const protocolRows: CommandRows<"hello" | "respond_permission"> = {
  hello: {
    describe: "Says what the client can do, and asks what tau can.",
    tauOnly: true,
    fields: { protocolVersion: optional(count), capabilities: optional(texts) },
    answer: "{protocolVersion, name, version, capabilities}",
    run(context, { capabilities = [] }) {
      const { version } = servicesOf(context, "hello");
      sessionsOf(context, "hello").setAttended(capabilities.includes(ASKS));
      return { protocolVersion: PROTOCOL_VERSION, name: "tau", version, capabilities: [...CAPABILITIES] };
    },
  },
  respond_permission: {
    describe: "Answers a `permission_request`.",
    tauOnly: true,
    fields: {
      permissionId: optional(text),
      decision: oneOf("allow", "deny"),
      scope: optional(oneOf("once", "session", "always")),
      reason: optional(text),
    },
    run({ session, id }, { permissionId = String(id), ...answer }) {
      if (session.parts.questions.respond(permissionId, answer)) return undefined;
      throw new SessionError("no_question", permissionId);
    },
  },
};
