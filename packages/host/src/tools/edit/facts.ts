import type { CallBody, NamedFacts } from "../definition.ts";
import { signedLines } from "../files/signed-lines.ts";
import type { EditArgs } from "./parameters.ts";

/** What `edit` knows of its calls. */
export const editFacts: NamedFacts<EditArgs> = {
  name: "edit",
  onByDefault: true,
  about: "path",
  touches: ({ path }) => ({ reads: [path], writes: [path] }),
  body: editBody,
  advice: [
    { text: "An edit's oldText must be copied exactly and be unique; put all changes of one file in one call." },
  ],
};

/** The diff that the call asks for. Older calls have one edit beside the path instead of a list. */
function editBody(args: EditArgs): CallBody | undefined {
  const edits: readonly unknown[] = Array.isArray(args.edits) ? args.edits : [args];
  const parts = edits.flatMap((edit) => {
    const { oldText, newText }: Partial<Record<string, unknown>> = Object(edit);
    if (typeof oldText !== "string" || typeof newText !== "string") return [];
    return [`${signedLines(oldText, "-")}\n${signedLines(newText, "+")}`];
  });
  if (parts.length === 0) return undefined;
  return { kind: "diff", text: parts.join("\n@@\n"), replaces: ["edits", "oldText", "newText"] };
}
