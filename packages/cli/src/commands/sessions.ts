import { type Environment, foundSessions, readConfiguration, sessionCost, sessionsDirectory } from "@tau/host/program";
import type { CliArgs } from "../arguments/args.ts";
import { assemblyInput } from "../arguments/assembly-input.ts";
import { show } from "../output/show.ts";
import { tell } from "../output/tell.ts";
import { terminalText } from "../output/terminal-text.ts";
import { EXIT } from "../process/exit-codes.ts";

/** Rows without a search: the newest, as many as a screen has. */
const MOST_ROWS = 30;
const TITLE_CHARS = 60;

type Found = Awaited<ReturnType<typeof foundSessions>>[number];

/**
 * `tau sessions [search] [--json]`: the saved sessions of all folders, the newest first. A short id, a name or a path of
 * the list is what `--session` takes.
 */
export async function runSessions(args: CliArgs, environment: Environment): Promise<number> {
  const input = assemblyInput(args);
  const configuration = await readConfiguration(input, environment);
  const sessionsDir = sessionsDirectory(input.session ?? {}, configuration, environment);
  const search = args.messages.join(" ");
  const found = await foundSessions(sessionsDir, search);
  if (args.flags.has("json")) {
    await show(found.map((session) => `${JSON.stringify(recordOf(session))}\n`).join(""));
    return EXIT.done;
  }
  if (found.length === 0) {
    tell(search === "" ? `there are no sessions in ${sessionsDir}` : `no session in ${sessionsDir} fits "${search}"`);
    return EXIT.done;
  }
  const shown = search === "" ? found.slice(0, MOST_ROWS) : found;
  await show(`${tableOf(shown, environment)}\n`);
  if (shown.length < found.length)
    tell(`${found.length - shown.length} older sessions are not shown; give a word to search for, or --json for all`);
  return EXIT.done;
}

function recordOf({ id, shortId, path, cwd, name, firstMessage, created, modified }: Found) {
  return {
    id,
    shortId,
    path,
    cwd,
    name,
    firstMessage,
    created,
    modified: new Date(modified).toISOString(),
    cost: sessionCost(path),
  };
}

function tableOf(sessions: readonly Found[], { userHome }: Environment): string {
  const rows = sessions.map((session) => [
    session.shortId,
    localTime(session.modified),
    `$${sessionCost(session.path).toFixed(2)}`,
    session.cwd.startsWith(`${userHome}/`) ? `~${session.cwd.slice(userHome.length)}` : session.cwd,
    titleOf(session),
  ]);
  const all = [["id", "last used", "cost", "folder", "name or first words"], ...rows];
  const clean = all.map((row) => row.map((cell) => terminalText(cell).replace(/\s/g, " ")));
  const widths = [0, 1, 2, 3].map((column) => Math.max(...clean.map((row) => row[column]?.length ?? 0)));
  return clean
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}

function titleOf({ name, firstMessage = "" }: Found): string {
  const title = name ?? firstMessage;
  return title.length > TITLE_CHARS ? `${title.slice(0, TITLE_CHARS - 1)}…` : title;
}

/** Year to minute, by the clock of this machine. */
function localTime(ms: number): string {
  const date = new Date(ms);
  const two = (value: number) => String(value).padStart(2, "0");
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ${two(date.getHours())}:${two(date.getMinutes())}`;
}
