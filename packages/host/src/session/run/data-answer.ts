import type { AgentTool } from "@tau/agent";
import { validateArguments } from "@tau/agent/validate";
import type { JsonSchema } from "@tau/llm";
import { textResult } from "../../tools/definition.ts";
import { SessionError } from "../session-error.ts";
import { failed, type RunEnding } from "./outcome.ts";

/** Answers that do not fit, and ends without one, before the prompt fails. */
const MOST_TRIES = 3;

/** Longest part of a validation text that a failure shows, in characters. */
const SHOWN_PROBLEM = 500;

const DESCRIPTION =
  "Gives the final answer to the user's request as data. Call it once, alone, when everything else is done; nothing can follow.";

type Fields = Record<string, unknown>;

/** What a prompt does that would end: it asks the model again, or ends so. */
export type Conclusion = { again: string } | { ending: RunEnding };

/**
 * The answer of one prompt as data that fits a schema. The model gives it as the call of a tool that exists for this
 * prompt only, so it works with every API, and while it uses other tools; its arguments are validated as those of any
 * call, and the model reads what is wrong with them. A model that answers in text is taken at its word when the text is
 * such data, else asked to call the tool.
 */
export class DataAnswer {
  readonly tool: AgentTool;
  /** The schema of the tool is an object's; another one is the schema of its only field. */
  readonly #isWrapped: boolean;
  #given: { data: unknown } | undefined;
  #tries = 0;
  #problem = "it answered in text";

  /**
   * @param taken names of the tools that there are
   * @throws SessionError for something else than a schema
   */
  constructor(schema: JsonSchema, taken: readonly string[]) {
    if (!isFields(schema)) throw new SessionError("invalid_field", "schema must be a JSON Schema: give an object.");
    this.#isWrapped = schema.type !== "object" && !isFields(schema.properties);
    let name = "give_answer";
    while (taken.includes(name)) name += "_";
    const parameters = this.#isWrapped ? wrapped(schema) : { ...schema, type: "object" };
    this.tool = {
      name,
      label: "Answer",
      description: DESCRIPTION,
      parameters,
      prepareArguments: (args) => this.#judged(args),
      execute: async (_toolCallId, args) => {
        this.#take(args);
        return { ...textResult("The answer is taken.", undefined), terminate: true };
      },
    };
  }

  /** Nothing more is asked of the model: the answer is there, or there is no hope of one. */
  get isOver(): boolean {
    return this.#given !== undefined || this.#tries >= MOST_TRIES;
  }

  /** @param text the last answer of the model */
  conclude(ending: RunEnding, text: string): Conclusion {
    if (ending.status !== "done") return { ending };
    if (!this.#given) this.#read(text);
    if (this.#given) return { ending: { ...ending, data: this.#given.data } };
    if (!this.isOver && ++this.#tries < MOST_TRIES) {
      return { again: `Give your answer by calling the tool ${this.tool.name}; its arguments are the answer.` };
    }
    return { ending: failed({ code: "no_data", params: { problem: this.#problem, tries: this.#tries } }) };
  }

  /** Counts a call whose arguments do not fit; the loop tells the model why. */
  #judged(args: Fields): Fields {
    const valid = validateArguments(this.tool.parameters, args);
    if (!valid.ok) {
      this.#tries++;
      this.#problem = valid.text.slice(0, SHOWN_PROBLEM);
    }
    return args;
  }

  #take(args: Fields): void {
    this.#given = { data: this.#isWrapped ? args.value : args };
  }

  #read(text: string): void {
    const value = jsonIn(text);
    if (value === undefined) return;
    const args = this.#isWrapped ? { value } : value;
    const valid = isFields(args) ? validateArguments(this.tool.parameters, args) : undefined;
    if (valid?.ok) this.#take(valid.args);
  }
}

/** References into the schema are to find what they name, so its definitions move along. */
function wrapped({ $defs, definitions, ...value }: JsonSchema): JsonSchema {
  return {
    type: "object",
    properties: { value },
    required: ["value"],
    ...($defs !== undefined && { $defs }),
    ...(definitions !== undefined && { definitions }),
  };
}

/** The JSON value that a text is, alone or as its only code block; undefined when it is none. */
function jsonIn(text: string): unknown {
  const whole = text.trim();
  const isFenced = whole.startsWith("```") && whole.endsWith("```");
  const json = isFenced ? whole.slice(whole.indexOf("\n") + 1, -3) : whole;
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}

const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);
