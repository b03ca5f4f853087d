import type { NamedFacts } from "../definition.ts";

/** What `bash` knows of its calls. */
export const bashFacts: NamedFacts<{ command: string }> = {
  name: "bash",
  onByDefault: true,
  about: "command",
  touches: () => ({ unknown: true }),
  body({ command }) {
    return typeof command === "string" ? { kind: "command", text: command, replaces: ["command"] } : undefined;
  },
  opensFiles: true,
  advice: [
    { without: ["grep"], text: "Search with rg where it is installed; keep output short." },
    {
      text: "Commands have no terminal and no input: use flags that avoid prompts and pagers, and start servers in the background.",
    },
    { text: 'A separate sub-task can go to another agent: tau -p "task". It knows only what you write.' },
  ],
};
