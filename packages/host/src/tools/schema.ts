/**
 * The type of the values that a JSON Schema written `as const` describes: one object is both what the model sees
 * and what the compiler checks, without a schema library on the start path. Knows what built-in tools need only.
 */
export type ArgsOf<Schema> = Schema extends { readonly type: "string" }
  ? string
  : Schema extends { readonly type: "number" | "integer" }
    ? number
    : Schema extends { readonly type: "boolean" }
      ? boolean
      : Schema extends { readonly type: "array"; readonly items: infer Items }
        ? ArgsOf<Items>[]
        : Schema extends { readonly type: "object"; readonly properties: infer Properties }
          ? ObjectArgs<Properties, RequiredKeys<Schema>>
          : unknown;

type RequiredKeys<Schema> = Schema extends { readonly required: readonly (infer Key)[] } ? Key : never;

type ObjectArgs<Properties, Required> = {
  [Key in keyof Properties as Key extends Required ? Key : never]: ArgsOf<Properties[Key]>;
} & {
  [Key in keyof Properties as Key extends Required ? never : Key]?: ArgsOf<Properties[Key]>;
};
