import { configError } from "./config-error.ts";
import { foreignSettings } from "./foreign-settings.ts";
import { isObject, type JsonObject, readJsonFile } from "./json-file.ts";
import { mistypedKeys } from "./mistyped-keys.ts";
import { DEFAULT_SETTINGS, type Settings } from "./settings.ts";
import { SETTING_ROWS, type SettingRow } from "./settings-table.ts";

const FLAGS = "command line";

/** One source of settings; later layers win over earlier ones. */
export interface SettingsLayer {
  /** File name or "command line", for warnings. */
  readonly source: string;
  readonly values: JsonObject;
  /** A project's file may not decide everything. */
  readonly project?: boolean;
}

export interface LoadedSettings {
  readonly settings: Settings;
  /** One line a value that was not used. */
  readonly warnings: readonly string[];
  /** The layers of `defaultTools`, which change one another instead of replacing. */
  readonly toolLayers: readonly (readonly string[])[];
}

export interface LoadSettingsOptions {
  homeFile: string;
  /** Only when the project is trusted. */
  projectFile?: string;
  /** Values of flags, in the shape of settings.json. */
  flags?: JsonObject;
}

/** Reads the settings files and flags into one frozen value. Throws ConfigError as `mergeSettings` and for no JSON. */
export async function loadSettings(options: LoadSettingsOptions): Promise<LoadedSettings> {
  const layers: SettingsLayer[] = [];
  const home = await readJsonFile(options.homeFile);
  if (home) layers.push({ source: options.homeFile, values: home });
  if (options.projectFile !== undefined) {
    const project = await readJsonFile(options.projectFile);
    if (project) layers.push({ source: options.projectFile, values: project, project: true });
  }
  if (options.flags) layers.push({ source: FLAGS, values: options.flags });
  return mergeSettings(layers);
}

/**
 * Lays the layers over the defaults. A value that cannot be read is named in a warning, and what held before it holds;
 * for a limit or a permission that would be less than the user asked for, so there it is a ConfigError.
 */
export function mergeSettings(layers: readonly SettingsLayer[]): LoadedSettings {
  const merged: JsonObject = structuredClone({ ...DEFAULT_SETTINGS });
  const warnings: string[] = [];
  const toolLayers: string[][] = [];
  for (const layer of layers) {
    warnings.push(
      ...brokenGroups(layer),
      ...(layer.source === FLAGS ? [] : [...mistypedKeys(layer), ...foreignSettings(layer)]),
    );
    for (const row of SETTING_ROWS) {
      const given = givenValue(layer.values, row);
      if (given === undefined) continue;
      const value = accept(row, given, layer, warnings);
      if (value === undefined) continue;
      writeAt(merged, row.key, value);
      if (row.key === "defaultTools") toolLayers.push(value as string[]);
    }
  }
  return { settings: deepFreeze(merged) as unknown as Settings, warnings, toolLayers };
}

/** One line for each group of settings, such as `retry`, that is not an object: none of its values can be read. */
function brokenGroups({ source, values, project = false }: SettingsLayer): string[] {
  const groups = new Set(
    SETTING_ROWS.filter(({ key }) => key.includes(".")).map(({ key }) => key.split(".")[0] ?? key),
  );
  return [...groups]
    .filter((group) => (values[group] ?? undefined) !== undefined && !isObject(values[group]))
    .map((group) => {
      const wants = "an object";
      const given = shown(values[group]);
      const protects = SETTING_ROWS.some((row) => row.key.startsWith(`${group}.`) && decides(row, project));
      if (protects) throw configError("setting_invalid", { source, key: group, wants, given });
      return ignored(source, group, `${wants}, not ${given}`);
    });
}

/** Whether a value that cannot be read would leave out a protection that its layer may ask for. */
function decides(row: SettingRow, project: boolean): boolean {
  return row.protects === true && !(project && row.homeOnly);
}

function accept(row: SettingRow, given: unknown, layer: SettingsLayer, warnings: string[]): unknown {
  if (layer.project && row.homeOnly) {
    warnings.push(`${layer.source}: "${row.key}" is not taken from a project; set it in your own settings.json`);
    return undefined;
  }
  const value = row.kind.read(given);
  if (value === undefined) {
    const { wants } = row.kind;
    const { source } = layer;
    if (row.protects) throw configError("setting_invalid", { source, key: row.key, wants, given: shown(given) });
    warnings.push(ignored(source, row.key, `${wants}, not ${shown(given)}`));
  }
  return value;
}

function ignored(source: string, key: string, problem: string): string {
  return `${source}: "${key}" must be ${problem}; it is ignored`;
}

function givenValue(values: JsonObject, row: SettingRow): unknown {
  for (const path of [row.key, ...(row.aliases ?? [])]) {
    const value = readAt(values, path);
    // A null stands for "not set" in files written by programs.
    if (value !== undefined && value !== null) return value;
  }
  return undefined;
}

function readAt(values: JsonObject, path: string): unknown {
  let at: unknown = values;
  for (const part of path.split(".")) at = isObject(at) ? at[part] : undefined;
  return at;
}

function writeAt(target: JsonObject, path: string, value: unknown): void {
  const parts = path.split(".");
  const last = parts.pop() ?? path;
  let at = target;
  for (const part of parts) {
    const next = at[part];
    if (!isObject(next)) return;
    at = next;
  }
  at[last] = value;
}

function shown(value: unknown): string {
  const json = JSON.stringify(value) ?? String(value);
  return json.length > 60 ? `${json.slice(0, 57)}...` : json;
}

function deepFreeze(value: JsonObject): JsonObject {
  for (const child of Object.values(value)) if (isObject(child)) deepFreeze(child);
  return Object.freeze(value);
}
