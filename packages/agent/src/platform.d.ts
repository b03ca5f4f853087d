// The loop compiles with no platform types (law B1). These few globals exist in Node, browsers and workers alike.
interface AbortSignal {
  readonly aborted: boolean;
  readonly reason: unknown;
  addEventListener(type: "abort", listener: () => void, options?: { once?: boolean }): void;
  removeEventListener(type: "abort", listener: () => void): void;
}
interface AbortController {
  readonly signal: AbortSignal;
  abort(reason?: unknown): void;
}
declare const AbortController: { new (): AbortController };
declare function setTimeout(callback: () => void, ms?: number): unknown;
declare function clearTimeout(timer: unknown): void;
declare function setImmediate(callback: () => void): unknown;
declare const performance: { now(): number };
