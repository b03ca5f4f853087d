import { dirname, isAbsolute, relative, resolve, sep } from "node:path";
import { type ContextFile, type ContextFileCollector, foldersDownTo } from "./context-files.ts";

/**
 * The context files of sub-folders, found when the model first works there (R152). What comes out is to be put behind
 * the result of the tool: what was sent to the model before stays as it is (O3).
 */
export class NestedContext {
  readonly #cwd: string;
  readonly #collector: ContextFileCollector;

  /**
   * @param cwd working directory; only folders below it are looked at
   * @param collector the one of the start, so that no file comes twice
   */
  constructor(cwd: string, collector: ContextFileCollector) {
    this.#cwd = cwd;
    this.#collector = collector;
  }

  /** The instructions that are new for the folder of this file, as text for the model; undefined when there are none. */
  textFor(path: string): string | undefined {
    const folder = dirname(resolve(this.#cwd, path));
    const below = relative(this.#cwd, folder);
    if (below === "" || isAbsolute(below) || below === ".." || below.startsWith(`..${sep}`)) return undefined;
    const added = foldersDownTo(folder)
      .filter((each) => each.length > this.#cwd.length)
      .flatMap((each) => this.#collector.addFolder(each));
    return added.length > 0 ? describe(added) : undefined;
  }
}

function describe(files: readonly ContextFile[]): string {
  const blocks = files.map(({ path, text }) => `<instructions path="${path}">\n${text}\n</instructions>`);
  return `Instructions for the files in this folder:\n${blocks.join("\n")}`;
}
