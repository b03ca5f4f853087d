import { baseOptions } from "../search/ripgrep-options.ts";
import type { SearchRoot } from "../search/search-root.ts";

export interface GrepArgs {
  pattern: string;
  path?: string;
  glob?: string;
  ignoreCase?: boolean;
  literal?: boolean;
  context?: number;
  limit?: number;
}

/** Each file contributes at most so many context lines a match. */
const MAX_CONTEXT = 50;

/** A pattern that needs more when compiled is refused in some 0.1 s and 30 MB (R098). */
const REGEX_SIZE = "10M";

/** Memory for the cache of states while matching; beyond it matching gets slower, not larger. */
const DFA_SIZE = "20M";

/** Look-around and back-references are not in ripgrep's own engine. */
const NEEDS_PCRE2 = /\(\?<?[=!]|\\[1-9]/;

/** A newline in the pattern, as itself or as an escape. */
const NEEDS_MULTILINE = /(^|[^\\])(\\\\)*\\n|\n/;

/** A glob whose last name ripgrep can use as a file type. Types, unlike `--glob`, leave ignore rules in force (R092). */
const TYPE_GLOB = /^[\w.*?{},@+-]+$/;

/** The command line for one search; `limit` is that of the whole search. */
export function grepOptions(root: SearchRoot, args: GrepArgs, { ignored, limit }: { ignored: boolean; limit: number }) {
  const { pattern, literal, ignoreCase, glob } = args;
  const context = contextLines(args);
  const type = root.isFolder ? typeGlob(glob) : undefined;
  return [
    ...baseOptions(root, { ignored }),
    "--json",
    // `$` stands before the CR of a CRLF as well (report R234).
    "--crlf",
    `--regex-size-limit=${REGEX_SIZE}`,
    `--dfa-size-limit=${DFA_SIZE}`,
    `--max-count=${limit + 1}`,
    ...(ignoreCase ? ["--ignore-case"] : ["--case-sensitive"]),
    ...(literal ? ["--fixed-strings"] : []),
    ...(!literal && NEEDS_PCRE2.test(pattern) ? ["--pcre2"] : []),
    ...((literal ? pattern.includes("\n") : NEEDS_MULTILINE.test(pattern)) ? ["--multiline"] : []),
    ...(context > 0 ? [`--context=${context}`] : []),
    ...(type === undefined ? [] : [`--type-add=taufiles:${type}`, "--type=taufiles"]),
    `--regexp=${pattern}`,
    "--",
    root.path,
  ];
}

/** The `context` argument as a count of lines. */
export function contextLines({ context }: GrepArgs): number {
  if (context === undefined || !(context > 0)) return 0;
  return Math.min(MAX_CONTEXT, Math.floor(context));
}

/** The last name of a glob, for ripgrep to leave out at once what cannot fit; the whole glob is applied to what it finds. */
function typeGlob(glob: string | undefined): string | undefined {
  const last = glob?.split("/").at(-1) ?? "";
  const usable = TYPE_GLOB.test(last) && !last.includes("**") && !glob?.startsWith("!") && !hasCommaOutsideBraces(last);
  return usable && isBalanced(glob ?? "") ? last : undefined;
}

function hasCommaOutsideBraces(text: string): boolean {
  return text.replace(/\{[^{}]*\}/g, "").includes(",");
}

/** Braces that span a slash are cut in two by looking at the last name alone, and those without a comma may be a name's. */
function isBalanced(glob: string): boolean {
  return glob.split("/").every((name) => !/[{}]/.test(name.replace(/\{[^{},]*,[^{}]*\}/g, "")));
}
