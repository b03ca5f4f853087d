import type { Compat, Model, ThinkingLevel } from "../protocol/model.ts";

/** The generated facts, packed: equal parts are written once and named by their index, -1 for none. */
export interface SnapshotData {
  /** Id and name for people, in the order of preference. */
  providers: [id: string, name: string][];
  endpoints: [provider: string, api: string, baseUrl: string][];
  levels: Partial<Record<ThinkingLevel, string | null>>[];
  compats: Compat[];
  rows: SnapshotRow[];
}

export type SnapshotRow = [
  endpoint: number,
  id: string,
  /** Empty when it is the id. */
  name: string,
  /** 1: reasons, 2: takes images. */
  flags: number,
  contextWindow: number,
  maxTokens: number,
  cost: [input: number, output: number, cacheRead: number, cacheWrite: number],
  levels: number,
  compat: number,
];

const REASONS = 1;
const SEES = 2;

/** The models of the snapshot, unpacked, in its order. */
export function unpackSnapshot(data: SnapshotData): Model[] {
  return data.rows.flatMap((row) => {
    const [endpointIndex, id, name, flags, contextWindow, maxTokens, cost, levelsIndex, compatIndex] = row;
    const endpoint = data.endpoints[endpointIndex];
    if (!endpoint) return [];
    const [provider, api, baseUrl] = endpoint;
    const [input, output, cacheRead, cacheWrite] = cost;
    const levels = data.levels[levelsIndex];
    const compat = data.compats[compatIndex];
    const model: Model = {
      ...{ id, name: name || id, api, provider, baseUrl, reasoning: (flags & REASONS) !== 0 },
      ...(levels ? { thinkingLevelMap: levels } : {}),
      input: flags & SEES ? ["text", "image"] : ["text"],
      ...{ cost: { input, output, cacheRead, cacheWrite }, contextWindow, maxTokens },
      ...(compat ? { compat } : {}),
    };
    return [model];
  });
}

/** Loads the snapshot that ships with tau. */
export async function loadSnapshot(): Promise<SnapshotData> {
  const { SNAPSHOT_JSON } = await import("./snapshot.generated.ts");
  return JSON.parse(SNAPSHOT_JSON);
}
