import { stat } from "node:fs/promises";
import type { AgentToolResult } from "@tau/agent";
import { FileProblem } from "../../platform/file-problem.ts";
import { replaceFile, statOrMissing } from "../../platform/files.ts";
import { missingFile } from "../../platform/missing-file.ts";
import { type ToolEnvironment, textResult } from "../definition.ts";
import { refuseMask } from "../files/masked-text.ts";
import { isStale, seenRange } from "../files/seen-content.ts";
import { boundaryNotes } from "./boundary-notes.ts";
import { explainFailures, type Failure } from "./explain.ts";
import { FoldedViews, findPlace } from "./find-place.ts";
import type { EditArgs, TextEdit } from "./parameters.ts";
import type { Place } from "./place.ts";
import { type Replacement, replacementFor } from "./replacement.ts";
import { type EditDetails, reportEdits } from "./report.ts";
import { openTextFile, spliceBytes, type TextFile } from "./text-file.ts";
import { TextLines } from "./text-lines.ts";

/**
 * One call of `edit`, when its turn has come: all edits are found in the content as it is now, then all are written at
 * once, or nothing is (`FileProblem`). Every byte outside of the replaced spans stays as it was, in any encoding.
 */
export async function editFile(
  { path, edits }: EditArgs,
  realPath: string,
  environment: ToolEnvironment,
): Promise<AgentToolResult<EditDetails>> {
  if (edits.length === 0) throw new FileProblem("NO_EDITS", "edits is empty: there is nothing to do.");
  if (!(await statOrMissing(realPath))) throw await missingFile(path, realPath, environment.cwd);
  const file = await openTextFile(realPath, path);
  refuseMask({ path, before: file.text, given: edits.flatMap((edit) => [edit.oldText, edit.newText]) }, environment);
  const lines = new TextLines(file.text);
  const stale = isStale(environment.fileReads?.get(realPath), file.stats, file.bytes);
  const places = findAll({ path, edits, file, lines, isStale: stale });
  const { replacements, notes } = await replaceAll(file.text, places);
  const pieces = spliceBytes(file, replacements);
  const content = Buffer.concat(pieces);
  if (content.equals(file.bytes)) throw unchanged(path);
  await replaceFile(realPath, [content], { shownAs: path, expected: file.stats });
  environment.fileReads?.replace(realPath, await stat(realPath), seenRange(content));
  if (stale) notes.push(`${path} had changed on disk since it was read; what was to be replaced was still there.`);
  const { text, details } = await reportEdits({ path, lines, replacements, count: edits.length, notes });
  return textResult(text, details);
}

interface Finding {
  readonly path: string;
  readonly edits: readonly TextEdit[];
  readonly file: TextFile;
  readonly lines: TextLines;
  readonly isStale: boolean;
}

/** In the order of the file. Throws one problem that tells of every edit that does not fit. */
function findAll({ path, edits, file, lines, isStale }: Finding): Place[] {
  const views = new FoldedViews(file.text);
  const failures: Failure[] = [];
  const found: { place: Place; index: number }[] = [];
  for (const [index, edit] of edits.entries()) {
    const { oldText, newText } = withoutMark(edit, file.markLength > 0);
    if (oldText === "" || oldText === newText) {
      failures.push({ index, kind: oldText === "" ? "empty" : "same" });
      continue;
    }
    const search = findPlace(lines, views, { oldText, newText });
    if (search.found === "one") found.push({ place: search.place, index });
    else failures.push({ index, kind: "search", search, oldText });
  }
  found.sort((a, b) => a.place.start - b.place.start);
  for (const [at, { place, index }] of found.entries()) {
    const previous = found[at - 1];
    if (previous && previous.place.end > place.start) failures.push({ index, kind: "overlap", with: previous.index });
  }
  if (failures.length > 0) throw explainFailures(failures, { path, lines, count: edits.length, isStale });
  return found.map(({ place }) => place);
}

/** A mark that the model copied from somewhere; the one of the file is not part of its text (R047). */
function withoutMark(edit: TextEdit, hasMark: boolean): TextEdit {
  if (!hasMark || !edit.oldText.startsWith("\ufeff")) return edit;
  return { oldText: edit.oldText.slice(1), newText: edit.newText.replace(/^\ufeff/, "") };
}

async function replaceAll(
  text: string,
  places: readonly Place[],
): Promise<{ replacements: Replacement[]; notes: string[] }> {
  const replacements: Replacement[] = [];
  const notes: string[] = [];
  for (const place of places) {
    const { pieces, notes: own } = await replacementFor(text, place);
    replacements.push(...pieces);
    notes.push(...own, ...howNote(place));
    const [last] = pieces.slice(-1);
    const [first] = pieces;
    if (!first || !last) continue;
    const whole = { start: first.start, end: last.end, text: pieces.length === 1 ? first.text : place.newText };
    notes.push(...boundaryNotes(text, whole, place.oldText));
  }
  return { replacements, notes };
}

const HOW: Readonly<Partial<Record<Place["how"], string>>> = {
  characters: "oldText was found only after folding look-alike characters (spaces, dashes, quotes, accents).",
  trailingSpaces: "oldText was found only after ignoring spaces at the ends of lines.",
};

function howNote({ how, shift }: Place): string[] {
  if (shift !== undefined) {
    return [`the file is indented by ${shift} than oldText, so newText was indented by ${shift} too.`];
  }
  const note = HOW[how];
  return note === undefined ? [] : [note];
}

function unchanged(path: string): FileProblem {
  return new FileProblem(
    "UNCHANGED",
    `${path} would stay as it is: newText differs from what is there in line ends only, and edit keeps those of the file.`,
  );
}
