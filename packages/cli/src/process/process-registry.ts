// A module of its own, so that it is loaded with the first tool and not at the start.
export { processGroups } from "@tau/host";
