/** A JSON Schema object (draft 2020-12 or older); kept open, since tools come from many places. */
export type JsonSchema = Record<string, unknown>;

/** A tool as the model sees it. */
export interface Tool {
  name: string;
  description: string;
  parameters: JsonSchema;
}
