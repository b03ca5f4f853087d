import type { CommandData, TreeNode } from "../session/command.ts";

/** A list of nodes whose text is being written: which comes next, and what closes it. */
interface Open {
  readonly nodes: readonly TreeNode[];
  next: number;
  readonly end: string;
}

/**
 * The data of `get_tree` as JSON. A conversation is one long branch, nested too deep for `JSON.stringify`: the text is
 * written level by level without recursion.
 */
export function treeJson({ tree, leafId }: CommandData["get_tree"]): string {
  const out: string[] = ['{"tree":['];
  const stack: Open[] = [{ nodes: tree, next: 0, end: "]" }];
  for (let top = stack.at(-1); top; top = stack.at(-1)) {
    const node = top.nodes[top.next];
    if (!node) {
      out.push(top.end);
      stack.pop();
      continue;
    }
    const { entry, children, ...marks } = node;
    out.push(top.next > 0 ? "," : "", `{"entry":${JSON.stringify(entry)},"children":[`);
    top.next++;
    const rest = JSON.stringify(marks).slice(1, -1);
    stack.push({ nodes: children, next: 0, end: `]${rest === "" ? "" : `,${rest}`}}` });
  }
  out.push(`,"leafId":${JSON.stringify(leafId)}}`);
  return out.join("");
}
