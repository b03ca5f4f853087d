// Loaded when the first tool runs: it needs node:child_process, which a run without tools does without.
export { processGroups } from "@tau/host";
