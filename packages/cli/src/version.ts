declare global {
  // Set by the bundler (scripts/build.mjs); absent when the sources run unbundled.
  var TAU_VERSION: string | undefined;
}

export const VERSION: string = globalThis.TAU_VERSION ?? "0.0.0-dev";
