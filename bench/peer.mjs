import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

// Reads the same session files and takes the same options as tau, so that one history serves both.
const PACKAGE = "@earendil-works/pi-coding-agent";

/**
 * The peer that was installed with npm in `folder` or in a folder of it: `{ name, command, env }`, or undefined when
 * there is none. It runs on the npm package `node` when that is installed there too, since it may need a newer one.
 *
 * @param home its home for the bench; gets a file that says where the model server is
 */
export function findPeer(folder, { home, url }) {
  const manifest = installed(folder, join(PACKAGE, "package.json"));
  if (!manifest) return undefined;
  const { version, bin } = JSON.parse(readFileSync(manifest, "utf8"));
  const node = installed(folder, "node/bin/node") ?? process.execPath;
  configure(join(home, ".pi/agent"), url);
  return {
    name: `${PACKAGE} ${version}`,
    command: [node, join(dirname(manifest), Object.values(bin)[0])],
    env: { HOME: home, PI_OFFLINE: "1", PI_TELEMETRY: "0", PI_SKIP_VERSION_CHECK: "1" },
  };
}

/** Path of a file below the node_modules of `folder` or of one of its folders. */
function installed(folder, path) {
  const folders = [folder, ...readdirSync(folder).map((name) => join(folder, name))];
  return folders.map((each) => join(each, "node_modules", path)).find((file) => existsSync(file));
}

function configure(folder, url) {
  const model = { id: "bench", contextWindow: 100_000_000, maxTokens: 1_000_000 };
  const provider = { baseUrl: url, api: "openai-completions", apiKey: "x", models: [model] };
  const settings = { enableInstallTelemetry: false, enableAnalytics: false, defaultProjectTrust: "always" };
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "models.json"), JSON.stringify({ providers: { bench: provider } }));
  writeFileSync(join(folder, "settings.json"), JSON.stringify(settings));
}
