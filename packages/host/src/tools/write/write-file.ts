import type { Stats } from "node:fs";
import { stat } from "node:fs/promises";
import type { AgentToolResult } from "@tau/agent";
import { asFileProblem, FileProblem } from "../../platform/file-problem.ts";
import { replaceFile, statOrMissing } from "../../platform/files.ts";
import { type ToolEnvironment, textResult } from "../definition.ts";
import { byteCount } from "../files/byte-count.ts";
import { refuseMask } from "../files/masked-text.ts";
import { isStale, seenRange } from "../files/seen-content.ts";
import { unifiedDiff } from "../files/unified-diff.ts";
import { comparedTexts, encodeLike, type OldContent, oldContent } from "./old-content.ts";
import type { WriteArgs } from "./parameters.ts";

/** A longer diff is not shown with a refusal, in characters. */
const MAX_SHOWN_DIFF = 8_000;

export interface WriteDetails {
  readonly created: boolean;
  readonly bytes: number;
  /** Unified diff against what was there, when both are text of at most 1 MB. */
  readonly diff?: string;
}

/** One call of `write`, when its turn has come. `realPath` has its links followed, so that they stay (R059). */
export async function writeFile(
  { path, content }: WriteArgs,
  realPath: string,
  environment: ToolEnvironment,
): Promise<AgentToolResult<WriteDetails>> {
  const existing = await statFor(realPath, path);
  const old = existing?.isFile() ? await oldContent(realPath, existing, path) : undefined;
  if (existing && old) await refuse({ path, content, realPath, existing, old }, environment);
  const bytes = await encodeLike(old, content);
  await replaceFile(realPath, [bytes], { shownAs: path, ...(existing && { expected: existing }) });
  environment.fileReads?.replace(realPath, await stat(realPath), seenRange(bytes));
  const size = byteCount(bytes.length);
  if (!existing) return textResult(`Created ${path} (${size}).`, { created: true, bytes: bytes.length });
  const diff = old && (await diffOf(path, old, content));
  return textResult(`Overwrote ${path} (${size}, was ${byteCount(existing.size)}).`, {
    created: false,
    bytes: bytes.length,
    ...(diff !== undefined && { diff }),
  });
}

interface Overwrite {
  readonly path: string;
  readonly content: string;
  readonly realPath: string;
  readonly existing: Stats;
  readonly old: OldContent;
}

/** Refuses to overwrite a key by its mask, and what came into the file since the model read it (report R241). */
async function refuse({ path, content, realPath, existing, old }: Overwrite, environment: ToolEnvironment) {
  const texts = await comparedTexts(old, content);
  if (texts) refuseMask({ path, before: texts[0], given: [content] }, environment);
  const seen = environment.fileReads?.get(realPath);
  const grew = seen !== undefined && seen.size !== existing.size;
  if (!old.whole || !(grew || isStale(seen, existing, old.bytes))) return;
  const diff = await diffOf(path, old, content);
  const lost = diff === undefined || diff.length > MAX_SHOWN_DIFF ? "" : ` What it would change by now:\n${diff}`;
  throw new FileProblem(
    "CHANGED",
    `${path} has changed on disk since it was read (${byteCount(existing.size)}, changed ${existing.mtime.toISOString()}). ` +
      `Nothing was written, so that the change is not lost: read it again first.${lost}`,
  );
}

async function statFor(realPath: string, shown: string): Promise<Stats | undefined> {
  try {
    return await statOrMissing(realPath);
  } catch (error) {
    throw asFileProblem(error, "write", shown);
  }
}

async function diffOf(path: string, old: OldContent, content: string): Promise<string | undefined> {
  const texts = await comparedTexts(old, content);
  if (!texts) return undefined;
  const [oldText, newText] = texts;
  return unifiedDiff(path, [{ oldStart: 1, newStart: 1, oldText, newText }]);
}
