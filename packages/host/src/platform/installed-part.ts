import { createRequire } from "node:module";

/** A package that tau uses and no bundle can hold is not there; the message has the remedy. */
export class MissingPart extends Error {
  override readonly name = "MissingPart";
}

/**
 * Finds a file of a package that no bundler can take in, such as a program or WebAssembly, beside the code that runs:
 * in the packages of tau, or in those beside a bundle of it.
 *
 * @param steps the package, then what is found from there: a file of a package that it depends on
 * @returns an absolute path
 * @throws MissingPart
 */
export function partPath(steps: readonly [string, ...string[]]): string {
  let from = thisFile();
  for (const step of steps) {
    try {
      from = createRequire(from).resolve(step);
    } catch {
      const name = packageOf(step);
      throw new MissingPart(`the package ${name} is not installed beside the program. Add it: npm install ${name}`);
    }
  }
  return from;
}

/** Of "@scope/name/file" and "name/file" what comes before the file. */
function packageOf(step: string): string {
  const parts = step.split("/");
  return parts.slice(0, step.startsWith("@") ? 2 : 1).join("/");
}

/** A bundle in CommonJS knows its file by `__filename`, and has no `import.meta.url`. */
function thisFile(): string {
  if (typeof __filename === "string") return __filename;
  return import.meta.url;
}
