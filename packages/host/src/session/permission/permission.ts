/** A call that waits for a decision. */
export interface PermissionRequest {
  readonly toolCallId: string;
  readonly toolName: string;
  /** Validated. */
  readonly args: Readonly<Record<string, unknown>>;
}

export type PermissionScope = "once" | "session" | "always";

/** What a person answers to a question. */
export type PermissionAnswer =
  | { readonly decision: "allow"; readonly scope?: PermissionScope }
  | { readonly decision: "deny"; readonly reason?: string };

/** The gate's word. `unattended` marks a refusal that is one only because nobody was there to ask. */
export type PermissionDecision =
  | { readonly action: "allow" }
  | { readonly action: "deny"; readonly reason: string; readonly unattended?: boolean };

/** What a gate is given beside the request. */
export interface PermissionContext {
  readonly signal: AbortSignal;
  /**
   * Puts the question to the user and waits. An abort is answered as a denial.
   * Undefined when there is nobody to ask.
   */
  readonly ask?: (reason: string) => Promise<PermissionAnswer>;
}

/** Judges every call before it runs. A gate that throws denies. */
export interface PermissionGate {
  decide(request: PermissionRequest, context: PermissionContext): PermissionDecision | Promise<PermissionDecision>;
}
