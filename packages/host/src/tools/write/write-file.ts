import type { Stats } from "node:fs";
import { stat } from "node:fs/promises";
import type { AgentToolResult } from "@tau/agent";
import { asFileProblem } from "../../platform/file-problem.ts";
import { replaceFile, statOrMissing } from "../../platform/files.ts";
import { type ToolEnvironment, textResult } from "../definition.ts";
import { byteCount } from "../files/byte-count.ts";
import { seenRange } from "../files/seen-content.ts";
import { unifiedDiff } from "../files/unified-diff.ts";
import { comparedTexts, encodeLike, type OldContent, oldContent } from "./old-content.ts";
import type { WriteArgs } from "./parameters.ts";

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
  const bytes = await encodeLike(old, content);
  await replaceFile(realPath, [bytes], { shownAs: path });
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
