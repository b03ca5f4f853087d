import type { AgentTool } from "@tau/agent";

const EXPRESSION = /^\d+(?:[-+*/]\d+)*$/;

/** Works out an expression of digits and the four operators, `*` and `/` before `+` and `-`. Throws on anything else. */
export function calculate(expression: string): number {
  if (!EXPRESSION.test(expression)) throw new Error(`only digits and + - * / are calculated, not "${expression}"`);
  return expression
    .split(/(?=[-+])/)
    .map((term) => (term.startsWith("-") ? -product(term.slice(1)) : product(term.replace("+", ""))))
    .reduce((sum, value) => sum + value, 0);
}

function product(term: string): number {
  const [first = "", ...rest] = term.split(/(?=[*/])/);
  return rest.reduce((value, factor) => {
    const number = Number(factor.slice(1));
    return factor.startsWith("*") ? value * number : value / number;
  }, Number(first));
}

/** The tool of law D1: pure, so that the whole run can be fingerprinted. */
export const calculateTool: AgentTool = {
  name: "calculate",
  label: "Calculate",
  description: "Works out an expression of digits and + - * /",
  parameters: { type: "object", properties: { expression: { type: "string" } }, required: ["expression"] },
  execute: async (_toolCallId, { expression }) => ({
    content: [{ type: "text", text: String(calculate(String(expression))) }],
    details: {},
  }),
};
